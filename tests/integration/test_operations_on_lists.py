"""Operations on sources, clients, processes, keys and sessions, and on what all tenants share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from penstock.model import uuid7
from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.integration.console_client import signed_in
from tests.integration.failed_processes import failed_process
from tests.integration.known_clients import NEW_SOURCE, know_clients
from tests.integration.test_operations import over
from tests.plugins.database import Database
from tests.plugins.workers import eventually, working

if TYPE_CHECKING:
    import httpx2


async def counted(client: httpx2.AsyncClient, action: str, **chosen: Any) -> dict[str, Any]:
    answer = await client.post("/v1/operations/preview", json={"action": action, "filter": chosen})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def begun(client: httpx2.AsyncClient, action: str, **chosen: Any) -> str:
    """Start it with the number that its preview names."""
    expected = (await counted(client, action, **chosen))["count"]
    wanted = {"action": action, "filter": chosen, "expected_count": expected}
    answer = await client.post("/v1/operations", json=wanted)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["operation_id"])


async def outcome(client: httpx2.AsyncClient, operation_id: str) -> tuple[int, dict[str, int], int]:
    """Done, skipped by reason, failed."""
    shown = await over(client, operation_id)
    assert shown["state"] == "done", shown
    skipped = {each["reason"]: each["count"] for each in shown["skipped_reasons"]}
    return shown["done"], skipped, shown["failed"]


async def step_alone(server: ApiServer, operation_id: str) -> None:
    """Do all of an operation before any other, as a worker would that took its task first."""
    async with server.database.connect("admin") as admin, admin.transaction():
        tenant_id = str(server.tenant.tenant_id)
        await admin.execute("select set_config('penstock.tenant_id', $1, true)", tenant_id)
        run = await admin.fetchval("select ingest.begin_operation($1, 0)", UUID(operation_id))
        while await admin.fetchval("select ingest.step_operation($1, $2)", UUID(operation_id), run) == "more":
            pass


async def three_sources(server: ApiServer) -> list[UUID]:
    """Of two kinds, one of them paused."""
    made = [uuid7() for _ in range(3)]
    async with server.database.connect("admin") as admin:
        for source_id, kind in zip(made, ("hubspot", "hubspot", "gmail"), strict=True):
            await admin.execute(NEW_SOURCE, source_id, server.tenant.tenant_id, kind)
        await admin.execute("update ingest.source set status = 'paused' where source_id = $1", made[0])
    return made


async def test_operations_that_match_are_cancelled_and_one_that_cancels_is_not(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        _, theirs = await server.another_tenant("globex")
        await three_sources(server)
        first = await begun(client, "sources.sync", kind="gmail")
        second = await begun(client, "sources.pause", kind="gmail")
        async with server.client(theirs) as others:
            assert (await counted(others, "operations.cancel"))["count"] == 0
        assert (await counted(client, "operations.cancel", state="running"))["count"] == 2
        assert (await counted(client, "operations.cancel", ids=[first]))["count"] == 1
        bad = {"action": "operations.cancel", "filter": {"ids": ["first"]}}
        assert_problem(await client.post("/v1/operations/preview", json=bad), 422, "filter.ids")
        cancelling = await begun(client, "operations.cancel", state="running")
        again = await counted(client, "operations.cancel", ids=[cancelling])
        assert again["skipped"] == [{"reason": "it cancels others", "count": 1}]
        await step_alone(server, cancelling)
        assert await outcome(client, cancelling) == (2, {}, 0)
        for each in (first, second):
            assert (await client.get(f"/v1/operations/{each}")).json()["state"] == "stopped"
        ended = await counted(client, "operations.cancel", ids=[first, second])
        assert ended["skipped"] == [{"reason": "it has ended", "count": 2}]


async def test_inlets_that_match_are_paused_and_resumed(database: Database, tmp_path: Path) -> None:
    put = "select queues.put_inlet($1, 'pgmq', 'pgmq:' || $1, '{}', $2)"
    async with (
        api_server(database, tmp_path) as server,
        server.client() as tenant,
        signed_in(server, "operator") as operator,
    ):
        async with server.database.connect("operator") as admin:
            for name, whose in (("orders", server.tenant.slug), ("orders-old", None), ("mail", None)):
                await admin.execute(put, name, whose)
        assert [each["name"] for each in (await tenant.get("/v1/inlets?q=o")).json()["items"]] == ["orders"]
        refused = {"action": "inlets.pause", "filter": {}}
        assert_problem(await tenant.post("/v1/operations/preview", json=refused), 422, "action")
        for chosen in ({"q": "order"}, {"state": "waiting"}, {"state": "paused"}, {"state": "!paused"}):
            listed = (await operator.get("/v1/inlets", params=chosen)).json()["items"]
            assert len(listed) == (await counted(operator, "inlets.pause", **chosen))["count"], chosen
        async with working(server.engine.tasks, {"operate": 1}):
            assert await outcome(operator, await begun(operator, "inlets.pause", q="order")) == (2, {}, 0)
            states = {
                each["name"]: each["enabled"] for each in (await operator.get("/v1/inlets")).json()["items"]
            }
            assert states == {"orders": False, "orders-old": False, "mail": True}
            resumed = await outcome(operator, await begun(operator, "inlets.resume"))
            assert resumed == (2, {"it is not paused": 1}, 0)


async def test_tenants_are_found_by_part_of_their_name_and_by_state(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, signed_in(server) as admin:
        await server.another_tenant("globex")

        async def found(**chosen: str) -> list[str]:
            answer = await admin.get("/v1/tenants", params=chosen)
            return [each["slug"] for each in answer.json()["items"]]

        assert await found() == ["acme", "globex"]
        assert await found(q="LOB") == ["globex"]
        assert await found(state="active", q="acm") == ["acme"]
        assert await found(state="!active") == await found(state="deleted") == []


async def test_all_sources_that_match_are_paused_resumed_and_synced(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        paused, other, _ = await three_sources(server)
        assert (await counted(client, "sources.pause"))["skipped"] == [
            {"reason": "it is already paused", "count": 1}
        ]
        assert (await counted(client, "sources.pause", kind="hubspot"))["count"] == 2
        assert (await counted(client, "sources.pause", kind="!hubspot"))["count"] == 1
        assert (await counted(client, "sources.pause", state="paused"))["count"] == 1
        assert (await counted(client, "sources.pause", ids=[str(other)]))["count"] == 1
        for chosen in ({"kind": "hubspot"}, {"state": "paused"}, {"q": "MAIL"}, {"kind": "!hubspot"}):
            listed = (await client.get("/v1/sources", params=chosen)).json()["items"]
            assert len(listed) == (await counted(client, "sources.sync", **chosen))["count"], chosen
        bad = {"action": "sources.sync", "filter": {"ids": ["nobody"]}}
        assert_problem(await client.post("/v1/operations/preview", json=bad), 422, "filter.ids")
        async with working(server.engine.tasks, {"operate": 1}):
            syncing = await begun(client, "sources.sync", kind="hubspot")
            assert await outcome(client, syncing) == (1, {"it is paused; resume it instead": 1}, 0)
            assert await outcome(client, await begun(client, "sources.pause")) == (
                2,
                {"it is already paused": 1},
                0,
            )
            assert await outcome(client, await begun(client, "sources.resume", ids=[str(paused)])) == (
                1,
                {},
                0,
            )
        rows = (await client.get("/v1/sources")).json()["items"]
        states = {row["source_id"]: row["status"] for row in rows}
        assert list(states.values()).count("paused") == 2
        assert states[str(paused)] == "active"
        assert [row["documents"] for row in rows] == [0, 0, 0]


async def test_all_clients_that_match_lose_the_records_a_person_wrote_only(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        async with database.connect("admin") as admin:
            await know_clients(admin, server.tenant.tenant_id)
        for name in ("Bellwether", "Bell Works", "Anvil"):
            assert (await client.post("/v1/clients", json={"name": name})).status_code == 201
        before = (await client.get("/v1/clients")).json()["items"]
        stated = [each for each in before if "manual" not in each["sources"]]
        assert stated
        assert (await counted(client, "clients.delete", query="bell"))["count"] == 2
        reader = await server.another_key("operate", "documents:read")
        async with server.client(reader) as other:
            wanted = {"action": "clients.delete", "filter": {}, "expected_count": 1}
            assert_problem(await other.post("/v1/operations", json=wanted), 403, "scope")
        async with working(server.engine.tasks, {"operate": 1}):
            assert await outcome(client, await begun(client, "clients.delete", query="bell")) == (2, {}, 0)
            done, skipped, failed = await outcome(client, await begun(client, "clients.delete"))
        assert (done, failed) == (1, 0)
        assert skipped == {"all its records come from sources": len(stated)}
        after = (await client.get("/v1/clients")).json()["items"]
        assert [each["name"] for each in after] == [each["name"] for each in stated]


async def test_all_failed_processes_that_match_start_again_once(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        async with database.connect("admin") as admin:
            for _ in range(3):
                await failed_process(admin, server.tenant.tenant_id)
            _, foreign = await server.another_tenant("other")
        assert (await counted(client, "processes.retry", state="failed"))["count"] == 3
        async with server.client(foreign) as other:
            assert (await counted(other, "processes.retry"))["count"] == 0
        first = (await client.get("/v1/processes")).json()["items"][-1]["id"]
        async with working(server.engine.tasks, {"operate": 1}):
            assert await outcome(client, await begun(client, "processes.retry", ids=[first])) == (1, {}, 0)
            again = await begun(client, "processes.retry", process="comms.send_sms")
            assert await outcome(client, again) == (2, {"it has not ended": 1}, 0)
        assert {row["state"] for row in (await client.get("/v1/processes")).json()["items"]} == {"open"}
        wrong = {"action": "processes.retry", "filter": {"ids": ["send_email'; drop"]}}
        assert_problem(await client.post("/v1/operations/preview", json=wrong), 422, "filter.ids")


async def test_keys_are_revoked_and_sessions_ended_except_ones_own(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for name in ("billing", "billing old", "search"):
            body = {"name": name, "scopes": ["search"]}
            assert (await client.post("/v1/keys", json=body)).status_code == 201
        assert (await counted(client, "keys.revoke", q="bill"))["count"] == 2
        assert len((await client.get("/v1/keys", params={"q": "bill"})).json()["items"]) == 2
        assert (await counted(client, "keys.revoke"))["skipped"] == [
            {"reason": "it is your own key", "count": 1}
        ]
        operator = await server.another_key("operate", "documents:read")
        async with server.client(operator) as other:
            wanted: dict[str, Any] = {"action": "keys.revoke", "filter": {}}
            assert_problem(await other.post("/v1/operations/preview", json=wanted), 403, "scope")
            wanted["expected_count"] = 5
            assert_problem(await other.post("/v1/operations", json=wanted), 403, "scope")
        async with (
            signed_in(server) as root,
            signed_in(server, "viewer", "acme") as viewer,
            working(server.engine.tasks, {"operate": 1}),
        ):
            assert await outcome(client, await begun(client, "keys.revoke")) == (
                4,
                {"it is your own key": 1},
                0,
            )
            assert (await client.get("/v1/keys", params={"state": "active"})).json()["items"][0][
                "name"
            ] == "test"
            assert await outcome(root, await begun(root, "sessions.end")) == (
                1,
                {"it is your own session": 1},
                0,
            )
            assert (await viewer.get("/v1/session")).status_code == 401
            assert (await root.get("/v1/session")).status_code == 200


async def test_what_tenants_share_is_for_operators_of_the_installation_only(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for action in ("queues.pause", "workers.stop", "schedules.pause"):
            wanted: dict[str, Any] = {"action": action, "filter": {}}
            assert_problem(await client.post("/v1/operations/preview", json=wanted), 422, "action")
            wanted["expected_count"] = 1
            assert_problem(await client.post("/v1/operations", json=wanted), 422, "action")
        assert_problem(await client.post("/v1/workers/1/stop"), 403, "role")
        async with (
            signed_in(server, "admin", None, **{"X-Penstock-Tenant": "acme"}) as root,
            working(server.engine.tasks, {"operate": 1, "ingest": 1}),
        ):
            pausing = await begun(root, "queues.pause")
            done, skipped, failed = await outcome(root, pausing)
            assert (skipped, failed) == ({"operations run in it": 1}, 0)
            paused = (await root.get("/v1/queues", params={"state": "paused"})).json()["items"]
            assert len(paused) == done
            assert {row["paused_by"] for row in paused} == {"ada"}
            assert await outcome(root, await begun(root, "queues.resume", ids=["ingest"])) == (1, {}, 0)
            assert (await root.get("/v1/queues", params={"q": "INGES", "state": "running"})).json()["items"][
                0
            ]["paused"] is False
            offs = await begun(root, "schedules.pause", state="on")
            assert (await outcome(root, offs))[0] >= 1
            assert (await root.get("/v1/schedules", params={"state": "on"})).json()["items"] == []
            ons = await begun(root, "schedules.resume")
            assert (await outcome(root, ons))[2] == 0
            ran = await outcome(root, await begun(root, "schedules.run"))
            assert ran[0] >= 1
        async with server.client() as tenant:
            assert_problem(await tenant.get(f"/v1/operations/{pausing}"), 404, "operation_id")


async def test_workers_that_match_are_asked_to_stop_once_and_lose_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, signed_in(server) as root:
        operating = working(server.engine.tasks, {"operate": 1}, name="operating")
        idle = working(server.engine.tasks, {"ingest": 1}, name="idle")
        async with operating, idle as asked:
            assert (await counted(root, "workers.stop", queue="ingest"))["count"] == 1
            assert await outcome(root, await begun(root, "workers.stop", q="idl")) == (1, {}, 0)
            await eventually(asked.asked_to_stop.is_set)

            async def stopped() -> bool:
                rows = (await root.get("/v1/workers", params={"state": "stopped"})).json()["items"]
                return [row["worker"] for row in rows] == ["idle"]

            await eventually(stopped)
            assert (await counted(root, "workers.stop", q="idl"))["skipped"] == [
                {"reason": "it has ended", "count": 1}
            ]
            worker_id = (await root.get("/v1/workers", params={"q": "idle"})).json()["items"][0]["worker_id"]
            answer = await root.post(f"/v1/workers/{worker_id}/stop")
            assert answer.json() == {"worker_id": worker_id, "asked": False}
            assert_problem(await root.post("/v1/workers/999999/stop"), 404, "worker_id")
        assert asked.registration is not None, "a second stop waits for the first and does no harm"
