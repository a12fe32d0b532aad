"""Queues, tasks, failures and processes over HTTP: as a viewer, as an operator, as the installation."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.integration.console_client import signed_in
from tests.plugins.database import Database

if TYPE_CHECKING:
    import httpx2

READS = (
    "/v1/overview",
    "/v1/queues",
    "/v1/queues/default",
    "/v1/queues/default?hours=168",
    "/v1/tasks",
    "/v1/tasks?state=ready",
    "/v1/tasks?state=completed&queue=default",
    "/v1/task-types",
    "/v1/workers",
    "/v1/schedules",
    "/v1/failures",
    "/v1/processes",
)
SHARED = (
    ("POST", "/v1/queues/default/pause", None),
    ("POST", "/v1/queues/default/resume", None),
    ("PUT", "/v1/queues/default/limits", {"max_running": 4}),
    ("PATCH", "/v1/schedules/nightly", {"enabled": True}),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """Two tenants, one of whose tasks carries a secret, and everybody who may look."""

    server: ApiServer
    viewer: httpx2.AsyncClient
    operator: httpx2.AsyncClient
    other: httpx2.AsyncClient
    installation: httpx2.AsyncClient
    task_id: int
    other_task_id: int


@asynccontextmanager
async def scene(database: Database, folder: Path) -> AsyncIterator[Scene]:
    async with api_server(database, folder) as server:
        other, other_key = await server.another_tenant("umbrella")
        async with database.connect("runtime") as runtime:
            await runtime.execute("select queues.put_task_type('greet', _required_keys => '{name}')")
            await runtime.execute(
                "select queues.put_schedule('nightly', '0 0 * * *', 'UTC', now() + interval '1 day', 'greet',"
                ' _payload => \'{"name": "Ada"}\')'
            )
            payload = {"name": "Ada", "password": "hunter2", "note": "key sk-0123456789abcdef0123"}
            enqueue = "select queues.enqueue('greet', $1, _tenant_id => $2)"
            mine = await runtime.fetchval(enqueue, json.dumps(payload), server.tenant.tenant_id)
            theirs = await runtime.fetchval(enqueue, json.dumps({"name": "Bob"}), other.tenant_id)
        viewer = await server.another_key("documents:read", "search")
        operator = await server.another_key("documents:read", "operate")
        async with (
            server.client(viewer) as seeing,
            server.client(operator) as acting,
            server.client(other_key) as beside,
            signed_in(server, role="operator") as installation,
        ):
            yield Scene(server, seeing, acting, beside, installation, mine, theirs)


async def ok(answer: httpx2.Response) -> Any:
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def test_everybody_who_may_read_sees_every_page_and_a_tenant_sees_its_own_tasks_only(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path) as here:
        for path in READS:
            for client in (here.viewer, here.operator, here.installation):
                await ok(await client.get(path))
        for client, seen in (
            (here.viewer, {here.task_id}),
            (here.other, {here.other_task_id}),
            (here.installation, {here.task_id, here.other_task_id}),
        ):
            page = await ok(await client.get("/v1/tasks?state=ready"))
            assert {item["task_id"] for item in page["items"]} == seen
            assert (page["total"], page["approximate"], page["cursor"]) == (len(seen), False, None)
            queues = await ok(await client.get("/v1/queues"))
            assert {q["queue"]: q["ready"] for q in queues["items"]}["default"] == len(seen)
        named = await ok(await here.installation.get("/v1/tasks?state=ready"))
        assert {item["tenant"] for item in named["items"]} == {"acme", "umbrella"}
        only = await ok(await here.installation.get("/v1/tasks?state=ready&tenant=umbrella"))
        assert [item["task_id"] for item in only["items"]] == [here.other_task_id]
        assert_problem(await here.viewer.get(f"/v1/tasks/{here.other_task_id}"), 404, "task_id")


async def test_what_tenants_share_is_for_operators_of_the_installation(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path) as here:
        for method, path, body in SHARED:
            for client in (here.viewer, here.operator, here.other):
                assert_problem(await client.request(method, path, json=body), 403, "role")
            await ok(await here.installation.request(method, path, json=body))
        paused = await ok(await here.installation.post("/v1/queues/default/pause"))
        assert (paused["paused"], paused["paused_by"]) == (True, "ada")
        assert paused["limits"][0]["max_running"] == 4
        assert_problem(await here.installation.post("/v1/queues/nowhere/pause"), 404, "queue")
        overview = await ok(await here.viewer.get("/v1/overview"))
        assert overview["verdict"]["state"] == "attention"
        assert {
            "text": "The queue default was paused by ada; 1 task is ready in it.",
            "link": "/queues/default",
        } in (overview["verdict"]["sentences"])


async def test_a_payload_is_redacted_until_an_operator_reveals_it(database: Database, tmp_path: Path) -> None:
    async with scene(database, tmp_path) as here:
        shown = await ok(await here.viewer.get(f"/v1/tasks/{here.task_id}"))
        assert shown["payload"] == {"name": "Ada", "password": "[redacted]", "note": "key [redacted]"}
        assert shown["payload_redacted"]
        assert next(reason["link"] for reason in shown["explanation"]) == "/workers"
        reveal = f"/v1/tasks/{here.task_id}/reveal"
        assert_problem(await here.viewer.post(reveal), 403, "scope")
        assert_problem(await here.other.post(reveal), 404, "task_id")
        assert (await ok(await here.operator.post(reveal)))["payload"]["password"] == "hunter2"
        async with database.connect("admin") as admin:
            noted = await admin.fetch("select subject from queues.audit where action = 'reveal'")
        assert [row["subject"] for row in noted] == [str(here.task_id)]


async def test_tasks_are_enqueued_repeated_cancelled_and_run_now_by_those_who_may(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path) as here:
        wanted = {"task_type": "greet", "payload": {"name": "Eve"}, "scheduled_at": "2100-01-01T00:00:00Z"}
        assert_problem(await here.viewer.post("/v1/tasks", json=wanted), 403, "scope")
        made = (await ok(await here.operator.post("/v1/tasks", json=wanted)))["task_id"]
        assert (await ok(await here.operator.get(f"/v1/tasks/{made}")))["tenant"] == "acme"
        assert_problem(
            await here.operator.post("/v1/tasks", json={**wanted, "payload": {}}), 422, "payload.name"
        )
        assert_problem(await here.operator.post("/v1/tasks", json={"task_type": "nope"}), 422, "task_type")
        own = {"task_type": "email", "payload": {}}
        assert_problem(await here.operator.post("/v1/tasks", json=own), 403, "task_type")
        assert_problem(await here.other.post(f"/v1/tasks/{made}/run-now"), 404, "task_id")
        assert (await ok(await here.operator.post(f"/v1/tasks/{made}/run-now"))) == {"due": True}
        copy = await ok(
            await here.operator.post(f"/v1/tasks/{made}/again", json={"payload": {"name": "Kim"}})
        )
        assert (await ok(await here.operator.get(f"/v1/tasks/{copy['task_id']}")))["payload"] == {
            "name": "Kim"
        }
        assert (await ok(await here.operator.post(f"/v1/tasks/{copy['task_id']}/again")))["task_id"] > copy[
            "task_id"
        ]
        assert_problem(await here.other.post(f"/v1/tasks/{made}/cancel"), 404, "task_id")
        assert (await ok(await here.installation.post(f"/v1/tasks/{made}/cancel"))) == {
            "outcome": "cancelled"
        }
        ended = await ok(await here.viewer.get("/v1/tasks?state=cancelled"))
        assert [item["task_id"] for item in ended["items"]] == [made]


async def test_bad_filters_and_cursors_are_refused_by_name(database: Database, tmp_path: Path) -> None:
    async with scene(database, tmp_path) as here:
        for path, field in (
            ("/v1/tasks?state=sleeping", "state"),
            ("/v1/tasks?cursor=x", "cursor"),
            ("/v1/queues/default?hours=0", "hours"),
            ("/v1/failures?kind=mail", "kind"),
            ("/v1/processes?cursor=x", "cursor"),
            ("/v1/processes?state=stuck", "state"),
        ):
            assert_problem(await here.viewer.get(path), 422, field)
        for path, field in (
            ("/v1/queues/nowhere", "queue"),
            ("/v1/failures/task-000000000000", "group_id"),
            ("/v1/failures/nothing", "group_id"),
            ("/v1/processes/comms.send_email/1", "id"),
            ("/v1/tasks/999999", "task_id"),
        ):
            assert_problem(await here.viewer.get(path), 404, field)
