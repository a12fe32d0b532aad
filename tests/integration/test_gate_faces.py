"""A project's gate over HTTP and by commands: set, shown, decided and removed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.integration.api_server import ApiServer, api_server, assert_problem, form
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

pytestmark = pytest.mark.timeout(120)

GATE = "/v1/projects/default/gate"
ASKED = [{"question": "who repaired the gate?", "documents": ["gate.md"]}]
WORSE = [{"question": "who repaired the gate?", "before": 1.0, "after": 0.5}]
END = "select ingest.end_evaluation($1, 1.0, 0.5, $2, 1, 0, '{}')"


async def waiting(server: ApiServer, client: Any) -> str:
    """A switch of the project without documents that its questions hold back; the id of its re-index."""
    begun = await client.post("/v1/reindexes", json={"embedder": "minilm"})
    assert begun.status_code == 202, begun.text
    tenant_id, run_id = server.tenant.tenant_id, UUID(begun.json()["run_id"])
    calls = server.engine.bulk_calls
    assert await calls.plan(tenant_id, run_id) == 0
    assert await calls.finish(tenant_id, run_id) == "waiting"
    shown = (await client.get(GATE)).json()["evaluation"]
    async with server.engine.tenants.transaction(tenant_id) as connection:
        state = await connection.fetchval(END, UUID(shown["evaluation_id"]), json.dumps(WORSE))
    assert state == "failed"
    assert await calls.finish(tenant_id, run_id) == "waiting"
    return str(run_id)


async def test_a_gate_is_set_shown_accepted_and_cancelled_over_http_and_every_change_is_audited(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        assert_problem(await client.get(GATE), 404, "gate")
        assert_problem(await client.put(GATE, json={"mode": "warn"}), 422, "questions")
        assert_problem(await client.put(GATE, json={"questions": []}), 422, "questions")
        assert_problem(await client.put(GATE, json={"questions": ASKED, "mode": "maybe"}), 422, "mode")
        assert_problem(
            await client.put(GATE, json={"questions": ASKED, "allowed_loss": 2}), 422, "allowed_loss"
        )
        made = await client.put(GATE, json={"questions": ASKED, "allowed_loss": 0.01})
        assert made.status_code == 200, made.text
        assert (made.json()["mode"], made.json()["allowed_loss"], made.json()["questions"]) == (
            "block",
            0.01,
            1,
        )
        assert_problem(await client.post(f"{GATE}/accept"), 409, "project")

        run_id = await waiting(server, client)
        gate = (await client.get("/v1/projects/default")).json()["gate"]
        assert gate["waiting"] == run_id
        assert "nDCG@10 0.5000 with minilm, 1.0000 with wordllama; 1 question got worse" in gate["says"]
        run = (await client.get(f"/v1/reindexes/{run_id}")).json()
        assert (run["reason"], run["gate"]["worse"], run["gate"]["state"]) == (gate["says"], WORSE, "failed")

        _, foreign = await server.another_tenant("other")
        async with server.client(foreign) as other:
            assert_problem(await other.get(GATE), 404, "gate")
            assert_problem(await other.post(f"{GATE}/accept"), 409, "project")
        async with server.client(await server.another_key("documents:read")) as viewer:
            assert (await viewer.get(GATE)).status_code == 200
            for method, path in (("PUT", GATE), ("DELETE", GATE), ("POST", f"{GATE}/accept")):
                assert_problem(await viewer.request(method, path, json={}), 403, "scope")

        cancelled = (await client.post(f"{GATE}/cancel")).json()
        assert (cancelled["state"], cancelled["decided_by"].startswith("key ")) == ("cancelled", True)
        project = (await client.get("/v1/projects/default")).json()
        assert (project["embedder"], project["next_embedder"]) == ("wordllama", None)

        run_id = await waiting(server, client)
        assert (await client.post(f"{GATE}/accept")).json()["state"] == "accepted"
        assert await server.engine.bulk_calls.finish(server.tenant.tenant_id, UUID(run_id)) == "done"
        assert (await client.get("/v1/projects/default")).json()["embedder"] == "minilm"
        kept = (await client.get(f"{GATE}/evaluations")).json()["items"]
        assert [each["state"] for each in kept] == ["accepted", "cancelled"]

        assert (await client.delete(GATE)).status_code == 200
        assert (await client.get("/v1/projects/default")).json()["gate"] is None
        async with database.connect("admin") as admin:
            rows = await admin.fetch("select action from accounts.audit_entry where status = 200")
        actions = {row["action"] for row in rows}
        path = "/v1/projects/{slug}/gate"
        assert actions >= {f"PUT {path}", f"DELETE {path}", f"POST {path}/accept", f"POST {path}/cancel"}


async def test_the_commands_set_a_gate_say_what_waits_and_decide(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    ours = penstock.with_variables(
        PENSTOCK_DATABASE_URL=database.runtime_url,
        PENSTOCK_OPERATOR_URL=database.operator_url,
        PENSTOCK_ADMIN_URL=database.admin_url,
        PENSTOCK_DATA_DIR=str(tmp_path),
    )
    (ours.folder / "set.jsonl").write_text(json.dumps(ASKED[0]))

    async with api_server(database, tmp_path) as server, server.client() as client:
        tenant = ("--tenant", server.tenant.slug)

        async def says(*arguments: str) -> Any:
            return await asyncio.to_thread(ours, *arguments, *tenant)

        missing = await says("project", "gate", "show", "default")
        assert (missing.code != 0, "penstock project gate set default --questions FILE" in missing.err) == (
            True,
            True,
        )
        assert "nothing to set" in (await says("project", "gate", "set", "default")).err
        assert "cannot read" in (await says("project", "gate", "set", "default", "--questions", "no")).err
        assert "--mode block" in (await says("project", "gate", "set", "default", "--mode", "maybe")).err
        made = await says("project", "gate", "set", "default", "--questions", "set.jsonl", "--json")
        assert (made.json["questions"], made.json["allowed_loss"], made.json["mode"]) == (1, 0, "block")
        assert "nothing waits" in (await says("project", "gate", "accept", "default", "--yes")).err

        run_id = await waiting(server, client)
        shown = (await says("project", "gate", "show", "default")).out
        assert "1.00 -> 0.50  who repaired the gate?" in shown
        assert "penstock project gate cancel default" in shown
        assert run_id in (await says("project", "show", "default")).out
        assert "got worse: 1.00 -> 0.50" in (await says("reindex", "status", run_id)).out
        health = (await asyncio.to_thread(ours, "doctor", "--json")).json
        (check,) = [each for each in health["checks"] if each["check"] == "gate"]
        assert (check["status"], "1 question got worse" in check["message"]) == ("warn", True)
        dry = await says("project", "gate", "accept", "default", "--dry-run")
        assert (
            "Would go live with what is prepared for the project 'default' (nDCG@10 0.5000, now 1.0000"
            in dry.out
        )
        assert "confirmation is required" in (await says("project", "gate", "accept", "default")).err
        accepted = await says("project", "gate", "accept", "default", "--yes")
        assert "goes live within seconds" in accepted.out
        assert "No worker is running" in accepted.err
        assert await server.engine.bulk_calls.finish(server.tenant.tenant_id, UUID(run_id)) == "done"
        listed = (await says("project", "gate", "history", "default")).out
        assert ("accepted" in listed, "1.0000       0.5000" in listed) == (True, True)
        await says("project", "gate", "set", "default", "--allowed-loss", "0.015")
        assert "allowed_loss  0.0150" in (await says("project", "gate", "show", "default")).out
        assert "Would remove" in (await says("project", "gate", "remove", "default", "--dry-run")).out
        assert (await says("project", "gate", "remove", "default", "--yes")).code == 0


async def test_over_http_an_operation_cannot_bypass_a_gate_but_one_document_may_be_re_indexed(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        async with server.working():
            sent = await client.post("/v1/documents/upload", params={"wait": 30}, files=form())
            assert sent.json()["document"]["status"] == "indexed", sent.text
        await client.put(GATE, json={"questions": ASKED})
        wanted = {"action": "documents.reindex", "filter": {}}
        for path, more in (("/v1/operations/preview", {}), ("/v1/operations", {"expected_count": 1})):
            problem = assert_problem(await client.post(path, json=wanted | more), 409, "action")
            assert "penstock reindex --project default" in json.dumps(problem)
        document_id = sent.json()["document"]["document_id"]
        assert (await client.post(f"/v1/documents/{document_id}/reindex")).status_code == 202
