"""The gate of a project in SQL: what is staged goes live only if it answers as well as before."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.bulk_calls import Bulk, indexed_documents
from tests.sql.document_calls import CODE, DocumentCalls, Tenant, document_calls
from tests.sql.test_bulk import change

QUESTIONS = [
    {"question": "which gate?", "documents": ["gate.md"]},
    {"question": "who?", "documents": ["a", "b"]},
]
WORSE = [{"question": "who?", "before": 1.0, "after": 0.5}]
ROW = (
    "select live_generation, staged_generation, title, staged_facts from ingest.document"
    " where document_id = $1"
)


class Gated:
    """A tenant with some indexed documents whose project has a gate."""

    def __init__(self, calls: DocumentCalls, tenant: Tenant, documents: list[UUID]) -> None:
        self.calls = calls
        self.tenant = tenant
        self.documents = documents

    async def of(self, function: str, *args: object, **named: object) -> Any:
        return await self.calls.of(self.tenant, f"ingest.{function}", *args, **named)

    async def staged(self, *args: object) -> Bulk:
        """A re-index with every document staged."""
        bulk = await Bulk.start(self.calls, self.tenant, *args, engine="ray")
        await self.work(bulk)
        return bulk

    async def work(self, bulk: Bulk) -> None:
        for shard in await bulk.planned():
            await bulk.work(shard)

    async def evaluation(self) -> UUID:
        """The newest one."""
        return UUID((await self.of("show_gate", "default"))["evaluation"]["evaluation_id"])

    async def judged(self, before: float, after: float, **named: object) -> str:
        unknown: list[str] = []
        evaluation = await self.evaluation()
        return str(
            await self.of(
                "end_evaluation", evaluation, before, after, json.dumps(WORSE), 1, 0, unknown, **named
            )
        )

    async def project(self) -> tuple[str, str | None]:
        row = await self.calls.of(self.tenant, "accounts.show_project", "default")
        return row["embedder"], row["next_embedder"]

    async def row(self, document_id: UUID) -> Mapping[str, Any]:
        found = await self.calls.admin.fetchrow(ROW, document_id)
        assert found is not None
        return dict(found)


@asynccontextmanager
async def gated(database: Database, count: int = 2, **gate: object) -> AsyncIterator[Gated]:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        made = Gated(calls, tenant, await indexed_documents(calls, tenant, count))
        await made.of("set_gate", "default", json.dumps(QUESTIONS), set_by="ada", **gate)
        yield made


async def refused(gate: Gated, function: str, *args: object) -> str:
    with pytest.raises(asyncpg.PostgresError) as error:
        await gate.of(function, *args)
    return str(error.value.sqlstate)


async def test_a_switch_whose_questions_are_answered_worse_waits_and_nothing_makes_it_go_live(
    database: Database,
) -> None:
    async with gated(database) as gate:
        bulk = await gate.staged("minilm")
        assert await bulk.finish() == "waiting"
        assert "no worker is running that could ask the questions" in (await bulk.explained())["reason"]
        assert await gate.judged(0.78, 0.71) == "failed"
        for _ in range(2):
            assert await bulk.finish() == "waiting"
            assert await gate.of("flip_embedder", gate.tenant.project_id, CODE) == "gate"
        assert await gate.project() == ("wordllama", "minilm")
        reason = (await bulk.explained())["reason"]
        assert "nDCG@10 0.7100 with minilm, 0.7800 with wordllama; 1 question got worse: who?" in reason
        assert "penstock project gate accept default" in reason
        shown = await gate.of("show_gate", "default")
        assert (shown["waiting"], shown["says"]) == (str(bulk.run_id), reason)
        assert {(await gate.row(each))["live_generation"] for each in gate.documents} == {1}


async def test_what_is_answered_as_well_goes_live_and_a_loss_that_is_allowed_does_too(
    database: Database,
) -> None:
    async with gated(database, allowed_loss=0.02) as gate:
        bulk = await gate.staged("minilm")
        assert await bulk.finish() == "waiting"
        assert await gate.judged(0.70, 0.68) == "passed"
        assert await gate.judged(0.70, 0.10) == "passed"  # judged once
        assert await bulk.finish() == "done"
        assert await gate.project() == ("minilm", None)
        assert (await bulk.explained())["reason"] is None


async def test_a_gate_that_only_warns_lets_it_go_live_once_the_questions_were_asked(
    database: Database,
) -> None:
    async with gated(database, mode="warn") as gate:
        bulk = await gate.staged("minilm")
        assert await bulk.finish() == "waiting"
        assert await gate.judged(0.7, 0.1) == "failed"
        assert await bulk.finish() == "done"
        assert await gate.project() == ("minilm", None)


async def test_somebody_accepts_what_waits_and_is_recorded(database: Database) -> None:
    async with gated(database) as gate:
        assert await refused(gate, "accept_gate", "default", "ada") == "PS011"
        bulk = await gate.staged("minilm")
        await bulk.finish()
        await gate.judged(0.7, 0.1)
        accepted = await gate.of("accept_gate", "default", "ada")
        assert (accepted["state"], accepted["decided_by"]) == ("accepted", "ada")
        assert (accepted["ndcg_before"], accepted["ndcg_after"], accepted["worse"]) == (0.7, 0.1, WORSE)
        assert await bulk.finish() == "done"
        assert await gate.project() == ("minilm", None)
        assert await refused(gate, "accept_gate", "default", "ada") == "PS011"
        audit = "select count(*) from queues.audit where action = 'gate_accepted' and subject = $1"
        assert await gate.calls.admin.fetchval(audit, str(gate.tenant.project_id)) == 1


async def test_a_cancelled_switch_leaves_everything_live_and_its_generations_are_removed(
    database: Database,
) -> None:
    async with gated(database) as gate:
        bulk = await gate.staged("minilm")
        await bulk.finish()
        await gate.judged(0.7, 0.1)
        staged = [(await gate.row(each))["staged_generation"] for each in gate.documents]
        assert (await gate.of("cancel_gate", "default", "ada"))["state"] == "cancelled"
        assert await bulk.finish() == "stopped"
        assert await gate.project() == ("wordllama", None)
        rows = [await gate.row(each) for each in gate.documents]
        assert [(row["live_generation"], row["staged_generation"]) for row in rows] == [(1, None)] * 2
        swept = await gate.calls.admin.fetch("select generation from ingest.sweep order by document_id")
        assert [row["generation"] for row in swept] == staged
        assert await refused(gate, "cancel_gate", "default", "ada") == "PS011"
        again = await gate.staged("minilm")
        assert await again.finish() == "waiting"
        assert await gate.judged(0.7, 0.7) == "passed"
        assert await again.finish() == "done"


async def test_questions_that_change_while_it_waits_are_asked_again_and_a_late_answer_does_not_count(
    database: Database,
) -> None:
    async with gated(database) as gate:
        bulk = await gate.staged("minilm")
        await bulk.finish()
        await gate.judged(0.7, 0.1)
        await gate.of("set_gate", "default", json.dumps(QUESTIONS[:1]))
        assert await refused(gate, "accept_gate", "default", "ada") == "PS011"
        assert await bulk.finish() == "waiting"
        old = await gate.evaluation()
        await gate.of("set_gate", "default", allowed_loss=0.1)
        assert await gate.of("begin_evaluation", old) is None
        assert await gate.of("end_evaluation", old, 0.7, 0.9, "[]", 0, 1, []) == "asking"
        assert await bulk.finish() == "waiting"
        asked = await gate.of("begin_evaluation", await gate.evaluation())
        assert asked["questions"] == QUESTIONS[:1]
        assert await gate.judged(0.7, 0.65) == "passed"
        assert await bulk.finish() == "done"
        kept = await gate.calls.rows(gate.tenant, "ingest.list_evaluations", "default")
        assert len(kept) == 3


async def test_a_gated_re_index_publishes_all_documents_at_once_and_only_after_the_gate(
    database: Database,
) -> None:
    async with gated(database) as gate:
        bulk = await gate.staged()
        assert await bulk.finish() == "waiting"
        for each in gate.documents:
            row = await gate.row(each)
            assert (row["live_generation"], row["staged_generation"], row["title"]) == (1, 2, None)
        assert await gate.judged(0.5, 0.5) == "passed"
        assert await bulk.finish() == "done"
        for each in gate.documents:
            row = await gate.row(each)
            assert (row["live_generation"], row["staged_generation"], row["title"]) == (2, None, "new")
            assert row["staged_facts"] is None
            assert (await gate.calls.events(each))[-1]["event"] == "reindexed"
        assert await gate.project() == ("wordllama", None)
        assert (await bulk.explained())["indexed"] == 2


async def test_a_document_that_changes_while_a_re_index_waits_keeps_the_newer_version(
    database: Database,
) -> None:
    async with gated(database) as gate:
        changed, plain = gate.documents
        bulk = await gate.staged()
        await bulk.finish()
        await gate.judged(0.5, 0.4)
        await change(gate.calls, gate.tenant, changed, b"newer content")
        assert await bulk.finish() == "waiting"  # its own run is about to index it
        await gate.calls.index(gate.tenant, changed)
        added = await gate.calls.document(gate.tenant, b"an added one")
        await gate.calls.index(gate.tenant, added)
        live = {each: (await gate.row(each))["live_generation"] for each in (changed, added)}
        await gate.of("accept_gate", "default", "ada")
        assert await bulk.finish() == "done"
        assert {each: (await gate.row(each))["live_generation"] for each in (changed, added)} == live
        assert (await gate.row(plain))["live_generation"] == 2


async def test_a_document_that_changes_while_a_switch_waits_is_staged_again_before_it_goes_live(
    database: Database,
) -> None:
    async with gated(database) as gate:
        changed, _ = gate.documents
        bulk = await gate.staged("minilm")
        await bulk.finish()
        await gate.judged(0.5, 0.5)
        await change(gate.calls, gate.tenant, changed, b"newer content")
        await gate.calls.index(gate.tenant, changed)
        assert await bulk.finish() == "plan"
        await gate.work(bulk)
        assert await bulk.finish() == "done"  # the verdict stands
        assert await gate.project() == ("minilm", None)


async def test_two_switches_in_a_row_are_judged_one_by_one(database: Database) -> None:
    async with gated(database) as gate:
        first = await gate.staged("minilm")
        await first.finish()
        await gate.judged(0.5, 0.5)
        second = await gate.staged("openai")
        assert (await first.explained())["state"] == "stopped"
        assert await second.finish() == "waiting"
        assert await gate.judged(0.5, 0.1) == "failed"
        assert await second.finish() == "waiting"
        assert await gate.project() == ("wordllama", "openai")


async def test_a_gate_set_during_a_switch_holds_it_and_one_that_is_removed_lets_it_go(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        gate = Gated(calls, tenant, await indexed_documents(calls, tenant, 1))
        bulk = await gate.staged("minilm")
        await gate.of("set_gate", "default", json.dumps(QUESTIONS))
        assert await bulk.finish() == "waiting"
        await gate.judged(0.5, 0.1)
        assert (await gate.of("remove_gate", "default"))["waiting"] == str(bulk.run_id)
        assert await bulk.finish() == "done"
        assert await refused(gate, "show_gate", "default") == "PS013"
        assert len(await calls.rows(tenant, "ingest.list_evaluations", "default")) == 1


async def test_a_document_that_fails_again_keeps_its_version_and_the_others_go_live(
    database: Database,
) -> None:
    async with gated(database) as gate:
        failing, good = gate.documents
        bulk = await Bulk.start(gate.calls, gate.tenant, engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        job = await bulk.begin(shard, token, failing)
        await bulk.of("end_bulk_document", shard, token, failing, job["generation"], code="broken")
        await bulk.stage(shard, token, good)
        assert (await bulk.close(shard, token))["failed"] == 1
        assert await bulk.finish() == "waiting"
        await gate.judged(0.5, 0.5)
        assert await bulk.finish() == "done"
        assert (await gate.row(failing))["live_generation"] == 1
        assert (await gate.row(good))["live_generation"] == 2
        project = await gate.calls.of(gate.tenant, "accounts.show_project", "default")
        assert project["left_behind"] == 0


async def test_a_project_without_documents_is_judged_too(database: Database) -> None:
    async with gated(database, 0) as gate:
        bulk = await gate.staged("minilm")
        assert await bulk.finish() == "waiting"
        assert await gate.judged(0.0, 0.0) == "passed"
        assert await bulk.finish() == "done"
        assert await gate.project() == ("minilm", None)


async def test_another_tenant_neither_sees_nor_decides_a_gate(database: Database) -> None:
    async with gated(database) as gate:
        bulk = await gate.staged("minilm")
        await bulk.finish()
        await gate.judged(0.5, 0.1)
        evaluation = await gate.evaluation()
        other = await gate.calls.create_tenant("other")
        stranger = Gated(gate.calls, other, [])
        for project in ("default", str(gate.tenant.project_id)):
            for function in ("show_gate", "remove_gate"):
                assert await refused(stranger, function, project) == "PS013"
        assert await refused(stranger, "accept_gate", "default", "eve") == "PS011"
        assert await refused(stranger, "cancel_gate", str(gate.tenant.project_id), "eve") == "PS013"
        assert await stranger.of("begin_evaluation", evaluation) is None
        assert await stranger.of("end_evaluation", evaluation, 0.1, 0.9, "[]", 0, 0, []) is None
        assert await bulk.finish() == "waiting"


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"questions": "[]"}, "questions"),
        ({"questions": json.dumps(QUESTIONS), "mode": "maybe"}, "mode"),
        ({"questions": json.dumps(QUESTIONS), "allowed_loss": 1.5}, "allowed_loss"),
        ({"mode": "warn"}, "questions"),
    ],
)
async def test_a_gate_that_makes_no_sense_is_refused(
    database: Database, named: dict[str, object], field: str
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        with pytest.raises(asyncpg.PostgresError) as error:
            await calls.of(tenant, "ingest.set_gate", "default", **named)
        assert (error.value.sqlstate, getattr(error.value, "detail", None)) == ("PS005", field)


async def test_an_operation_does_not_re_index_documents_past_a_gate(database: Database) -> None:
    """A person may re-index one document, and what no search finds yet cannot get worse."""
    async with gated(database, 3) as gate:
        one, _, failed = gate.documents
        await gate.calls.set_status(failed, "failed")
        for chosen in ({}, {"project": "default"}, {"ids": [str(each) for each in gate.documents]}):
            for function, *more in (("preview_operation",), ("start_operation", 3, "ann")):
                with pytest.raises(asyncpg.PostgresError) as error:
                    await gate.of(function, "documents.reindex", json.dumps(chosen), *more)
                assert error.value.sqlstate == "PS011"
                assert "penstock reindex --project default" in str(error.value.hint)
        for allowed, action in (
            ({"ids": [str(one)]}, "documents.reindex"),
            ({"status": "failed"}, "documents.reindex"),
            ({}, "documents.delete"),
        ):
            assert (await gate.of("preview_operation", action, json.dumps(allowed)))["count"] > 0
        await gate.of("start_operation", "documents.reindex", json.dumps({"status": "failed"}), 1, "ann")
        assert await gate.of("reindex_document", one) is not None
        await gate.of("remove_gate", "default")
        assert (await gate.of("preview_operation", "documents.reindex", "{}"))["count"] == 3
