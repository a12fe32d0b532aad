"""Queues, tasks, failures and processes over HTTP: as a viewer, as an operator, as the installation."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.api_server import ApiServer, api_server, assert_problem, form
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
    "/v1/inlets",
    "/v1/failures",
    "/v1/processes",
)
SHARED = (
    ("POST", "/v1/queues/default/pause", None),
    ("POST", "/v1/queues/default/resume", None),
    ("PUT", "/v1/queues/default/limits", {"max_running": 4}),
    ("PATCH", "/v1/schedules/nightly", {"enabled": True}),
    ("POST", "/v1/inlets/orders/pause", None),
    ("POST", "/v1/inlets/orders/resume", None),
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
            async with database.connect("operator") as operators:
                await operators.execute("select queues.put_inlet('orders', 'sqs', 'sqs:x', '{}', 'umbrella')")
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
    assert answer.status_code in (200, 201, 202), answer.text
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


async def test_the_overview_has_what_the_month_cost_if_the_price_is_known(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path, embedding_price_per_million_tokens=20.0) as server,
        server.client() as client,
        database.connect("admin") as admin,
    ):
        await admin.execute(
            "insert into accounts.usage (tenant_id, day, model, tokens, calls, texts, reused)"
            " values ($1, (now() at time zone 'utc')::date, 'some', 150000, 3, 40, 2)",
            server.tenant.tenant_id,
        )
        usage = (await ok(await client.get("/v1/overview")))["usage"]
        assert (usage["tokens"], usage["reused"], usage["cost"]) == (150_000, 2, 3.0)


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
        assert_problem(await here.installation.post("/v1/inlets/nothing/pause"), 404, "inlet")
        await ok(await here.installation.post("/v1/inlets/orders/pause"))
        assert not (await ok(await here.other.get("/v1/inlets/orders")))["inlet"]["enabled"]
        assert_problem(await here.viewer.get("/v1/inlets/orders"), 404, "inlet")
        assert (await ok(await here.viewer.get("/v1/inlets")))["items"] == []
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


async def test_an_edited_copy_of_a_task_keeps_the_secrets_that_its_editor_was_not_shown(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path) as here:
        path = f"/v1/tasks/{here.task_id}"
        edited = (await ok(await here.operator.get(path)))["payload"]
        assert edited == {"name": "Ada", "password": "[redacted]", "note": "key [redacted]"}
        edited["name"] = "Kim"
        answer = await here.operator.post(f"{path}/again", json={"payload": edited})
        copy = (await ok(answer))["task_id"]
        assert answer.json() == {"task_id": copy}
        whole = await ok(await here.operator.post(f"/v1/tasks/{copy}/reveal"))
        assert whole["payload"] == {
            "name": "Kim",
            "password": "hunter2",
            "note": "key sk-0123456789abcdef0123",
        }
        assert_problem(await here.viewer.post(f"{path}/again", json={"payload": edited}), 403, "scope")
        seen = (await here.viewer.get(f"/v1/tasks/{copy}")).text
        assert "hunter2" not in seen
        assert "sk-0123456789abcdef0123" not in seen
        for wrong, field in (
            ({**edited, "token": "[redacted]"}, "payload.token"),
            ({**edited, "lines": [{"token": "[redacted]"}]}, "payload.lines.0.token"),
        ):
            refused = await here.operator.post(f"{path}/again", json={"payload": wrong})
            assert field in assert_problem(refused, 422, field)["detail"]
            assert "hunter2" not in refused.text
        assert await here.server.count("queues.task where task_type = 'greet'") == 3


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


async def die(database: Database, message: str) -> None:
    """Run the ready tasks of the queue `default` and fail them for good."""
    async with database.connect("runtime") as runtime:
        worker = await runtime.fetchval(
            "select queues.register_worker('w', '{default}', interval '1 hour', '{\"penstock\": \"9\"}')"
        )
        for lease in await runtime.fetch("select * from queues.claim($1, 'default', 10)", worker):
            await runtime.execute(
                "select queues.fail($1, $2, '{Broken}', $3, _final => '{true}')",
                worker,
                [lease["lease_id"]],
                [f"{message} {lease['task_id']}"],
            )


async def test_failures_are_grouped_with_their_remedy_and_a_tenant_sees_its_own(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path) as here:
        async with here.server.client() as admin_key:
            for number in range(3):
                sent = await ok(await admin_key.post("/v1/documents/upload", files=form(f"text {number}")))
                async with database.connect("admin") as admin, admin.transaction():
                    own = "select set_config('penstock.tenant_id', $1, true)"
                    await admin.execute(own, str(here.server.tenant.tenant_id))
                    await admin.execute(
                        "select ingest.end_failed($1, 'timeout', $2)",
                        sent["document_id"],
                        f"it took more than {number} seconds, password=hunter2",
                    )
        await die(database, "password=hunter2 broke")
        groups = (await ok(await here.viewer.get("/v1/failures")))["items"]
        by_kind = {group["kind"]: group for group in groups}
        assert {kind: group["count"] for kind, group in by_kind.items()} == {"task": 1, "document": 3}
        assert "PENSTOCK_PARSE_SECONDS" in by_kind["document"]["remedy"]
        assert (len(by_kind["task"]["history"]), sum(by_kind["document"]["history"])) == (24, 3)
        assert by_kind["task"]["example"] == {"task_id": here.task_id, "document_id": None}
        seen = json.dumps(groups)
        for kind, group in by_kind.items():
            detail = await ok(await here.viewer.get(f"/v1/failures/{group['group_id']}?limit=2"))
            rest = []
            if detail["cursor"]:
                page = f"/v1/failures/{group['group_id']}?limit=2&cursor={detail['cursor']}"
                rest = (await ok(await here.viewer.get(page)))["members"]
            assert len([*detail["members"], *rest]) == by_kind[kind]["count"]
            seen += json.dumps([detail, rest])
        assert "hunter2" not in seen
        assert (await ok(await here.installation.get("/v1/failures?kind=task")))["items"][0]["count"] == 2
        assert (await ok(await here.viewer.get("/v1/failures?q=nowhere")))["items"] == []
        assert len((await ok(await here.viewer.get("/v1/failures?task_type=greet")))["items"]) == 1
        (other,) = (await ok(await here.other.get("/v1/failures")))["items"]
        assert other["example"]["task_id"] == here.other_task_id
        assert_problem(
            await here.other.get(f"/v1/failures/{by_kind['document']['group_id']}"), 404, "group_id"
        )
        overview = await ok(await here.viewer.get("/v1/overview"))
        assert (overview["dead"], overview["failed_documents"]) == (1, 3)
        shown = await ok(await here.viewer.get(f"/v1/tasks/{here.task_id}"))
        assert [attempt["versions"] for attempt in shown["attempts"]] == [{"penstock": "9"}]
        assert (shown["attempts"][0]["error_code"], shown["state"]) == ("Broken", "dead")
        assert "hunter2" not in json.dumps(shown)


async def test_processes_are_listed_page_by_page_shown_and_started_again_by_their_tenant(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path) as here:
        async with database.connect("runtime") as runtime:
            for tenant_id in (here.server.tenant.tenant_id, here.server.tenant.tenant_id):
                async with runtime.transaction():
                    await runtime.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant_id))
                    await runtime.execute(
                        "select comms.kickoff_send_sms(comms.create_sms_message('+4930123456', 'hi'))"
                    )
        first = await ok(await here.viewer.get("/v1/processes?limit=1"))
        second = await ok(
            await here.viewer.get("/v1/processes", params={"limit": 1, "cursor": first["cursor"]})
        )
        rows = [*first["items"], *second["items"]]
        assert len({row["id"] for row in rows}) == 2
        assert (await ok(await here.other.get("/v1/processes")))["items"] == []
        assert len((await ok(await here.installation.get("/v1/processes")))["items"]) == 2
        path = f"/v1/processes/{rows[0]['id']}"
        assert (await ok(await here.viewer.get(path)))["state"] == "open"
        assert_problem(await here.other.get(path), 404, "id")
        assert_problem(await here.viewer.post(f"{path}/retry"), 403, "scope")
        assert_problem(await here.other.post(f"{path}/retry"), 404, "id")
        assert_problem(await here.operator.post(f"{path}/retry"), 409, "id")


async def test_an_attempt_on_a_document_says_with_which_parser_and_model(
    database: Database, tmp_path: Path
) -> None:
    async with scene(database, tmp_path) as here:
        async with here.server.client() as client:
            sent = await ok(await client.post("/v1/documents/upload", files=form("The gate is open.")))
            async with here.server.working():
                shown = await ok(await client.get(f"/v1/documents/{sent['document_id']}?wait=60"))
        assert shown["status"] == "indexed", shown
        tasks = await ok(await here.viewer.get("/v1/tasks?state=completed&task_type=ingest-document"))
        (item,) = tasks["items"]
        for reader in (here.viewer, here.installation):
            (attempt,) = (await ok(await reader.get(f"/v1/tasks/{item['task_id']}")))["attempts"]
            assert set(attempt["versions"]) == {"penstock", "python", "code", "parser", "model"}
            assert attempt["versions"]["parser"] == shown["parser"]
        types = await ok(await here.viewer.get("/v1/task-types"))
        schema = {each["task_type"]: each["schema"] for each in types["items"]}["ingest-document"]
        assert "document_id" in schema["properties"]
