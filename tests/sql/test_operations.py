"""Operations in SQL: what they choose, that each item is treated once, canaries, and whose they are."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from penstock.errors import Conflict
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, call, decoded, document_calls

FAILED = {"status": "failed"}


async def failed_documents(
    here: DocumentCalls, tenant: Tenant, count: int, name: str = "document"
) -> list[UUID]:
    found = [await here.document(tenant, f"{tenant.slug} {name} {n}".encode()) for n in range(count)]
    for document_id in found:
        await here.set_status(document_id, "failed")
    return found


async def started(
    here: DocumentCalls, tenant: Tenant, count: int, action: str = "documents.retry", **named: object
) -> dict[str, Any]:
    chosen = named.pop("filter", FAILED)
    await here.clock.advance(seconds=1)
    answer = await here.of(tenant, "ingest.start_operation", action, chosen, count, "ann", **named)
    return dict(answer)


async def stepped(here: DocumentCalls, tenant: Tenant, operation: dict[str, Any], **named: object) -> str:
    """All steps of one worker."""
    run = await here.of(tenant, "ingest.begin_operation", UUID(operation["operation_id"]), 1)
    follows = "over" if run is None else "more"
    while follows == "more":
        follows = await here.of(
            tenant, "ingest.step_operation", UUID(operation["operation_id"]), run, **named
        )
    return follows


async def shown(here: DocumentCalls, tenant: Tenant, operation: dict[str, Any]) -> dict[str, Any]:
    return dict(await here.of(tenant, "ingest.show_operation", UUID(operation["operation_id"])))


async def test_an_operation_treats_each_item_that_matched_at_its_start_once(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        documents = await failed_documents(here, acme, 5)
        counted = await here.of(acme, "ingest.preview_operation", "documents.retry", FAILED)
        assert (counted["count"], counted["approximate"], counted["skipped"]) == (5, False, [])
        operation = await started(here, acme, 5)
        await here.clock.advance(seconds=1)
        late = await failed_documents(here, acme, 7, "late")
        changed = documents.pop()
        await here.of(acme, "ingest.retry_document", changed)
        await here.set_status(changed, "failed")
        assert await stepped(here, acme, operation, limit=2) == "done"
        row = await shown(here, acme, operation)
        assert (row["state"], row["total"], row["done"], row["skipped"]) == ("done", 4, 4, 0)
        assert {await here.status(each) for each in documents} == {"pending"}
        assert {await here.status(each) for each in (*late, changed)} == {"failed"}, "since the start"
        for document_id in documents:
            names = [event["event"] for event in await here.events(document_id)]
            assert names.count("retried") == 1
        assert await stepped(here, acme, operation) == "over"


async def test_a_worker_that_lost_its_operation_writes_nothing(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 4)
        operation = UUID((await started(here, acme, 4))["operation_id"])
        old = await here.of(acme, "ingest.begin_operation", operation, 1)
        assert await here.of(acme, "ingest.step_operation", operation, old, 2) == "more"
        assert await here.of(acme, "ingest.step_operation", operation, old, 2) == "more"
        new = await here.of(acme, "ingest.begin_operation", operation, 2)
        assert await here.of(acme, "ingest.step_operation", operation, old, 2) == "over"
        assert await here.of(acme, "ingest.step_operation", operation, new, 2) == "done"
        done = await here.admin.fetchval("select done from ingest.operation")
        assert done == 4


async def test_a_count_that_differs_by_more_than_a_tenth_is_refused(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 3)
        for wrong in (1, 2, 4, 100):
            with pytest.raises(asyncpg.PostgresError, match="3 items match now") as refused:
                await started(here, acme, wrong)
            assert refused.value.sqlstate == Conflict.sqlstate
        assert await here.admin.fetchval("select count(*) from ingest.operation") == 0


async def test_an_operation_stops_when_far_more_match_than_were_expected(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 30)
        operation = await started(here, acme, 30)
        await here.admin.execute("update ingest.operation set expected_count = 10")
        assert await stepped(here, acme, operation) == "over"
        row = await shown(here, acme, operation)
        assert row["state"] == "stopped"
        assert "30 items match" in row["error"]
        assert row["done"] == 0


MANY = 13_000
_MANY_DEAD = """
insert into queues.dead_letter (task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority,
  tenant_id, attempts, losses, reason, error_code, error_message, fingerprint, errors, died_at)
select n, 'ingest-document', '{}', internal.clock(), internal.clock(), q.queue_id, 4, $1, 5, 0, 'exhausted',
  'Error', 'it broke', 'abcdefabcdef', '[]', internal.clock()
from generate_series(1001, 1000 + $2::integer) n,
  (select min(queue_id) as queue_id from queues.queue) q
"""
_MANY_READY = """
with made as (
  insert into queues.task (
    task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority, tenant_id)
  select n, 'ingest-document', '{}', internal.clock(), internal.clock(), q.queue_id, 4, $1
  from generate_series(1001, 1000 + $2::integer) n, (select min(queue_id) as queue_id from queues.queue) q
  returning task_id, queue_id, priority, tenant_id)
insert into queues.ready (lane, seq, task_id, failures, losses, held)
select internal.lane(m.queue_id, m.priority + 1, m.tenant_id), m.task_id, m.task_id, 0, 0, 0 from made m
"""


@pytest.mark.parametrize("action", ["dead.purge", "tasks.cancel"])
async def test_an_operation_acts_on_more_items_than_are_counted_one_by_one(
    database: Database, action: str
) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        filled = _MANY_DEAD if action == "dead.purge" else _MANY_READY
        await here.admin.execute("set session_replication_role = replica")
        await here.admin.execute(filled, acme.tenant_id, MANY)
        await here.admin.execute("reset session_replication_role")
        await here.admin.execute("analyze queues.dead_letter, queues.ready, queues.task")
        chosen = {"task_type": "ingest-document"}
        counted = await here.of(acme, "ingest.preview_operation", action, chosen)
        assert counted["approximate"]
        assert counted["count"] == pytest.approx(MANY, rel=0.25)
        operation = await started(here, acme, counted["count"], action, filter=chosen)
        operation_id = UUID(operation["operation_id"])
        run = await here.of(acme, "ingest.begin_operation", operation_id, 1)
        assert await here.of(acme, "ingest.step_operation", operation_id, run) == "more"
        row = await shown(here, acme, operation)
        assert (row["state"], row["total"], row["error"]) == ("running", MANY, None)


_THREE_TYPES = """
with made as (
  insert into queues.task (
    task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority, tenant_id)
  select n, case when n <= 15000 then 'first' when n <= 30000 then 'second' else 'rare' end, '{}',
    internal.clock(), internal.clock(), q.queue_id, 4, $1
  from generate_series(1, 30500) n, (select min(queue_id) as queue_id from queues.queue) q
  returning task_id, queue_id, priority, tenant_id)
insert into queues.ready (lane, seq, task_id, failures, losses, held)
select internal.lane(m.queue_id, m.priority + 1, m.tenant_id), m.task_id, m.task_id, 0, 0, 0 from made m
"""


@pytest.mark.parametrize("whose", ["tenant", "installation"])
async def test_tasks_of_a_type_are_counted_wherever_they_stand_in_the_list(
    database: Database, whose: str
) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await here.admin.execute("set session_replication_role = replica")
        await here.admin.execute(_THREE_TYPES, acme.tenant_id)
        await here.admin.execute("reset session_replication_role")
        await here.admin.execute("analyze queues.ready, queues.task")

        async def counted(**chosen: str) -> tuple[int, bool, object]:
            if whose == "tenant":
                row = await here.of(acme, "ingest.preview_operation", "tasks.run_now", chosen)
            else:
                preview = "all_tenants.preview_operation"
                row = decoded((await call(here.operator, preview, "tasks.run_now", chosen))[0][0])
            return row["count"], row["approximate"], row["skipped"]

        total, approximate, skipped = await counted(task_type="second")
        assert approximate
        assert total == pytest.approx(15_000, rel=0.25)
        assert skipped == [{"reason": "it does not wait for a time", "count": total}]
        reason = "it does not wait for a time"
        assert await counted(task_type="rare") == (500, False, [{"reason": reason, "count": 500}])
        assert await counted(task_type="unknown") == (0, False, [])


async def test_one_item_that_matches_is_told_in_the_singular(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 1)
        with pytest.raises(asyncpg.PostgresError, match="1 item matches now, not 5"):
            await started(here, acme, 5)


async def test_only_an_approximate_number_is_taken_for_more_than_it_says(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 30)
        await here.admin.execute(
            "create or replace function ingest.exact_up_to() returns bigint"
            " language sql immutable parallel safe as 'select 5'"
        )
        await here.admin.execute("analyze ingest.document")
        for wrong in (4, 5, 10):
            with pytest.raises(asyncpg.PostgresError, match="items match now") as refused:
                await started(here, acme, wrong)
            assert refused.value.sqlstate == Conflict.sqlstate
        counted = await here.of(acme, "ingest.preview_operation", "documents.retry", {})
        assert counted["approximate"]
        operation = await started(here, acme, 30)
        await here.admin.execute("update ingest.operation set expected_count = 6")
        assert await stepped(here, acme, operation) == "done"
        assert (await shown(here, acme, operation))["done"] == 30


async def test_items_whose_state_forbids_the_action_are_skipped_with_the_reason(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 3)
        waiting = await here.document(acme, b"waits")
        counted = await here.of(acme, "ingest.preview_operation", "documents.retry", {})
        assert counted["skipped"] == [{"reason": "it is still being processed", "count": 1}]
        operation = await started(here, acme, 4, filter={})
        assert await stepped(here, acme, operation) == "done"
        row = await shown(here, acme, operation)
        assert (row["done"], row["skipped"], row["failed"]) == (3, 1, 0)
        assert list(row["skipped_reasons"].values()) == [1]
        items = [
            decoded(each[0])
            for each in await here.rows(
                acme, "ingest.list_operation_items", UUID(row["operation_id"]), outcome="skipped"
            )
        ]
        assert [item["item"] for item in items] == [str(waiting)]  # type: ignore[index]


async def test_a_cancelled_operation_leaves_the_rest_as_it_is(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        documents = await failed_documents(here, acme, 6)
        operation = UUID((await started(here, acme, 6))["operation_id"])
        run = await here.of(acme, "ingest.begin_operation", operation, 1)
        await here.of(acme, "ingest.step_operation", operation, run, 2)
        await here.of(acme, "ingest.step_operation", operation, run, 2)
        stopped = await here.of(acme, "ingest.cancel_operation", operation, "ann")
        assert (stopped["state"], stopped["error"], stopped["done"]) == ("stopped", "cancelled by ann", 2)
        assert await here.of(acme, "ingest.step_operation", operation, run, 2) == "over"
        assert sorted([await here.status(each) for each in documents]) == ["failed"] * 4 + ["pending"] * 2


async def test_a_canary_goes_on_when_its_items_succeed_and_stops_when_they_fail(database: Database) -> None:
    async with document_calls(database) as here:
        for slug, end, state in (("good", "indexed", "done"), ("bad", "failed", "stopped")):
            tenant = await here.create_tenant(slug)
            documents = await failed_documents(here, tenant, 10)
            operation = await started(here, tenant, 10, canary_percent=20)
            assert await stepped(here, tenant, operation) == "watch"
            row = await shown(here, tenant, operation)
            assert (row["state"], row["done"], row["canary"]["size"]) == ("watching", 2, 2)
            assert await stepped(here, tenant, operation) == "watch", "they have not ended yet"
            sent = [each for each in documents if await here.status(each) == "pending"]
            assert len(sent) == 2
            for document_id in sent:
                await here.set_status(document_id, end)
            assert await stepped(here, tenant, operation) in ("done", "over")
            row = await shown(here, tenant, operation)
            assert row["state"] == state
            assert row["done"] == (10 if state == "done" else 2)
            assert row["canary"]["state"] == ("passed" if state == "done" else "failed")
            if state == "stopped":
                assert "the other 8 were not touched" in row["error"]


async def test_a_canary_that_does_not_end_stops_the_operation(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 10)
        operation = await started(here, acme, 10, canary_percent=10)
        assert await stepped(here, acme, operation) == "watch"
        await here.clock.advance(seconds=3_601)
        assert await stepped(here, acme, operation) == "over"
        assert "have not ended" in (await shown(here, acme, operation))["error"]


async def test_another_tenant_neither_sees_nor_stops_an_operation(database: Database) -> None:
    async with document_calls(database) as here:
        acme, other = await here.create_tenant("acme"), await here.create_tenant("other")
        await failed_documents(here, acme, 2)
        theirs = await failed_documents(here, other, 2)
        operation = await started(here, acme, 2)
        for function in ("show_operation", "cancel_operation", "list_operation_items"):
            with pytest.raises(asyncpg.PostgresError, match="there is no operation"):
                await here.of(other, f"ingest.{function}", UUID(operation["operation_id"]))
        assert await here.rows(other, "ingest.list_operations") == []
        assert await here.of(other, "ingest.begin_operation", UUID(operation["operation_id"]), 1) is None
        assert await stepped(here, acme, operation) == "done"
        assert {await here.status(each) for each in theirs} == {"failed"}


async def test_an_operator_acts_on_tasks_of_all_tenants_or_of_the_one_it_names(database: Database) -> None:
    async with document_calls(database) as here:
        acme, other = await here.create_tenant("acme"), await here.create_tenant("other")
        for tenant in (acme, other):
            await here.document(tenant, b"one")
            await here.document(tenant, b"two")
        chosen = {"task_type": "ingest-document"}

        async def counted(**named: str) -> int:
            rows = await call(
                here.operator, "all_tenants.preview_operation", "tasks.cancel", {**chosen, **named}
            )
            return int(decoded(rows[0][0])["count"])  # type: ignore[index]

        assert await counted() == 4
        assert await counted(tenant="other") == 2
        mine = await here.of(acme, "ingest.preview_operation", "tasks.cancel", chosen)
        assert mine["count"] == 2
        await here.clock.advance(seconds=1)
        rows = await call(here.operator, "all_tenants.start_operation", "tasks.cancel", chosen, 4, "root")
        operation_id = UUID(decoded(rows[0][0])["operation_id"])  # type: ignore[index]
        assert await here.rows(acme, "ingest.list_operations") == [], "it is the operators'"
        run = (await call(here.runtime, "all_tenants.begin_operation", operation_id, 1))[0][0]
        follows = "more"
        while follows == "more":
            follows = (await call(here.runtime, "all_tenants.step_operation", operation_id, run))[0][0]
        row = decoded((await call(here.operator, "all_tenants.show_operation", operation_id))[0][0])
        assert (row["state"], row["done"]) == ("done", 4)  # type: ignore[index]
        with pytest.raises(asyncpg.PostgresError, match="acts on one tenant"):
            await call(here.operator, "all_tenants.preview_operation", "documents.delete", {})


async def test_a_filter_with_an_unknown_key_or_value_is_refused(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        for action, chosen, what in (
            ("documents.delete", {"stauts": "failed"}, "stauts"),
            ("documents.delete", {"status": "broken"}, "broken"),
            ("documents.delete", {"source_id": "x' or true"}, "not the id of a source"),
            ("tasks.cancel", {"state": "completed"}, "completed"),
            ("dead.purge", {"state": "dead"}, "state"),
            ("dead.purge", {"queues": "default"}, "queues"),
            ("documents.explode", {}, "explode"),
        ):
            with pytest.raises(asyncpg.PostgresError, match=what) as refused:
                await here.of(acme, "ingest.preview_operation", action, chosen)
            assert refused.value.sqlstate == "PS005"


async def test_operations_whose_task_is_gone_are_ended_and_old_ones_forgotten(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 2)
        operation = await started(here, acme, 2)
        await here.clock.advance(seconds=120)
        await call(here.runtime, "all_tenants.settle_operations")
        assert (await shown(here, acme, operation))["state"] == "running", "its task waits"
        await here.admin.execute("select queues.cancel_task($1)", operation["task_id"])
        await call(here.runtime, "all_tenants.settle_operations")
        row = await shown(here, acme, operation)
        assert row["state"] == "failed"
        assert "its task" in row["error"]
        assert await stepped(here, acme, operation) == "done", "who replays the task continues it"
        await here.clock.advance(days=31)
        await call(here.runtime, "all_tenants.settle_operations")
        assert await here.admin.fetchval("select count(*) from ingest.operation_item") == 0


async def test_the_end_is_estimated_from_the_measured_rate(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await failed_documents(here, acme, 8)
        operation = UUID((await started(here, acme, 8))["operation_id"])
        run = await here.of(acme, "ingest.begin_operation", operation, 1)
        for _ in range(3):
            await here.of(acme, "ingest.step_operation", operation, run, 2)
        row = await here.of(acme, "ingest.show_operation", operation)
        assert 0 < row["eta_low"] <= row["eta_seconds"] <= row["eta_high"]
