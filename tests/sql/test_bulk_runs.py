"""Re-indexes in SQL as a person sees them: started, stopped, resumed, estimated, settled, kept apart."""

from __future__ import annotations

import json

import asyncpg
import pytest

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.bulk_calls import Bulk, indexed_documents
from tests.sql.document_calls import CODE, call, document_calls


async def test_a_second_start_joins_the_run_and_another_target_replaces_it(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        first = await Bulk.start(calls, tenant)
        assert (await Bulk.start(calls, tenant, engine="ray")).run_id == first.run_id
        other = await Bulk.start(calls, tenant, "minilm")
        assert other.run_id != first.run_id
        assert (await first.explained())["state"] == "stopped"
        with pytest.raises(asyncpg.PostgresError) as refused:
            await first.of("resume_bulk")
        assert refused.value.sqlstate == "PS014"


async def test_a_start_on_the_workers_that_joins_a_run_of_ray_gives_it_and_each_shard_a_task(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        await indexed_documents(calls, tenant, 4)
        bulk = await Bulk.start(calls, tenant, engine="ray", shard_documents=2)
        closed, _ = await bulk.planned()
        await bulk.work(closed)
        assert "--engine ray" in (await bulk.explained())["hint"]
        joined = await calls.of(tenant, "ingest.start_bulk", "default")
        assert (joined["run_id"], joined["engine"]) == (str(bulk.run_id), "ray")
        assert joined["task_id"] is not None
        assert "penstock worker" in (await bulk.explained())["hint"]
        assert await calls.admin.fetchval(
            "select array_agg(s.task_id is not null order by s.shard) from ingest.bulk_shard s"
        ) == [False, True]
        again = await calls.of(tenant, "ingest.start_bulk", "default")
        assert again["task_id"] == joined["task_id"]


async def test_a_stopped_run_gives_out_nothing_and_a_resumed_one_does_only_what_is_open(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        documents = await indexed_documents(calls, tenant, 4)
        bulk = await Bulk.start(calls, tenant, shard_documents=2)
        first, second = await bulk.planned()
        assert await bulk.of("enqueue_shards") == 2
        await bulk.work(first)
        token = await bulk.claim(second)
        await bulk.stage(second, token, documents[2])
        stopped = await bulk.of("stop_bulk", "ann")
        assert (stopped["state"], stopped["reason"]) == ("stopped", "stopped by ann")
        assert not await bulk.of("beat_shard", second, token)
        assert (await bulk.of("claim_shard", second, "two"))["state"] == "ended"
        assert await bulk.open() == []
        assert await bulk.finish() == "stopped"
        await bulk.of("resume_bulk")
        assert await bulk.planned() == [second]
        await calls.clock.advance(minutes=2)
        token = await bulk.claim(second)
        assert await bulk.documents(second, token) == [documents[3]]
        await bulk.stage_all(second, token)
        await bulk.close(second, token)
        assert await bulk.finish() == "done"
        shown = await bulk.explained()
        assert (shown["documents"], shown["done"], shown["indexed"]) == (4, 4, 4)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await bulk.of("resume_bulk")
        assert refused.value.sqlstate == "PS011"
        for document in documents:
            assert [e["event"] for e in await calls.events(document)].count("reindexed") == 1


async def test_the_estimated_end_lies_in_its_range_and_follows_the_measured_rate(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        await indexed_documents(calls, tenant, 8)
        bulk = await Bulk.start(calls, tenant, engine="ray", shard_documents=2)
        shards = await bulk.planned()
        assert (await bulk.explained())["eta_seconds"] is None
        for shard, seconds in zip(shards, (8, 12), strict=False):
            token = await bulk.claim(shard)
            await bulk.stage_all(shard, token)
            await calls.clock.advance(seconds=seconds)
            await bulk.close(shard, token)
        await bulk.claim(shards[2])
        shown = await bulk.explained()
        # Five seconds per document, four documents left, one shard in work.
        assert shown["eta_seconds"] == pytest.approx(20)
        assert shown["documents_per_second"] == pytest.approx(0.2)
        assert 0 < shown["eta_low"] < shown["eta_seconds"] < shown["eta_high"]
        assert shown["embedded_tokens"] == 12
        assert shown["holders"][0]["holder"] == "one"


async def test_a_run_whose_task_ended_is_settled_and_forgotten_after_thirty_days(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        bulk = await Bulk.start(calls, tenant)
        await call(calls.runtime, "all_tenants.settle_bulk")
        assert (await bulk.explained())["state"] == "planning"
        task_id = (await bulk.explained())["task_id"]
        await call(calls.operator, "queues.cancel_task", task_id)
        await calls.clock.advance(minutes=2)
        await call(calls.runtime, "all_tenants.settle_bulk")
        shown = await bulk.explained()
        assert (shown["state"], str(task_id) in shown["reason"]) == ("failed", True)
        await calls.clock.advance(days=31)
        await call(calls.runtime, "all_tenants.settle_bulk")
        assert await calls.admin.fetchval("select count(*) from ingest.bulk_run") == 0


async def test_a_run_of_ray_without_a_driver_is_reported_after_ten_minutes_without_anybody_at_work(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        await indexed_documents(calls, tenant, 4)
        on_workers = await calls.create_tenant("other")
        await Bulk.start(calls, on_workers)
        bulk = await Bulk.start(calls, tenant, engine="ray", shard_documents=2)

        async def reported() -> list[dict[str, str]]:
            undriven = "select all_tenants.document_health() -> 'undriven'"
            return list(json.loads(await calls.operator.fetchval(undriven)))

        first, _ = await bulk.planned()
        await calls.clock.advance(minutes=9)
        token = await bulk.claim(first)
        await calls.clock.advance(minutes=9)
        await bulk.of("beat_shard", first, token)
        await calls.clock.advance(minutes=10)
        assert await reported() == []  # its lease ended nine minutes ago
        await calls.clock.advance(minutes=2)
        (run,) = await reported()
        assert (run["tenant"], run["project"], run["run_id"]) == ("acme", "default", str(bulk.run_id))
        assert await bulk.finish() == "running"  # a driver that has nothing to give out
        assert await reported() == []
        await calls.clock.advance(minutes=11)
        assert len(await reported()) == 1
        await bulk.of("resume_bulk", "queue")
        assert await reported() == []


async def test_a_second_tenant_sees_and_touches_nothing_of_a_run(database: Database) -> None:
    async with document_calls(database) as calls:
        acme, other = await calls.create_tenant("acme"), await calls.create_tenant("other")
        (document,) = await indexed_documents(calls, acme, 1)
        (theirs,) = await indexed_documents(calls, other, 1)
        bulk = await Bulk.start(calls, acme, engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        attack = Bulk(calls, other, {"run_id": str(bulk.run_id)})
        assert await attack.open() == []
        assert not await attack.of("beat_shard", shard, token)
        assert not await attack.of("release_shard", shard, token)
        calls_refused = (
            ("explain_bulk", ()),
            ("plan_bulk", (CODE,)),
            ("claim_shard", (shard, "two")),
            ("close_shard", (shard, token)),
            ("begin_bulk_document", (shard, token, document, CODE)),
            ("stop_bulk", ()),
            ("resume_bulk", ()),
            ("end_bulk", (CODE,)),
        )
        for function, arguments in calls_refused:
            with pytest.raises(asyncpg.PostgresError) as refused:
                await attack.of(function, *arguments)
            assert refused.value.sqlstate in ("PS006", "PS013"), function
        # Nor can a shard of one tenant be made to read a document of another.
        assert (await bulk.begin(shard, token, theirs))["outcome"] == "gone"
        await bulk.stage_all(shard, token)
        await bulk.close(shard, token)
        assert "reindexed" not in [event["event"] for event in await calls.events(theirs)]
        assert (await calls.rows(other, "ingest.list_bulk")) == []


async def test_a_project_deleted_during_its_run_ends_it(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        await calls.of(tenant, "accounts.create_project", uuid7(), "sales", "Sales", "wordllama")
        run = await calls.of(tenant, "ingest.start_bulk", "sales", engine="ray")
        bulk = Bulk(calls, tenant, run)
        await bulk.planned()
        await calls.of(tenant, "accounts.delete_project", "sales")
        assert await bulk.finish() == "stopped"
