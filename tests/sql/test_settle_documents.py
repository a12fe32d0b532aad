"""Documents for which nothing will run any more fail with a reason, or are enqueued again."""

from __future__ import annotations

import pytest

from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, call, document_calls

QUEUE = "ingest-document"


async def settle(calls: DocumentCalls, *, minutes: float = 2) -> int:
    """Let time pass and look after all documents, as the schedule does."""
    await calls.clock.advance(minutes=minutes)
    (row,) = await call(calls.runtime, "all_tenants.settle_documents")
    return int(row[0])


async def claimed(calls: DocumentCalls) -> tuple[int, int]:
    """Claim one task for a worker that stays alive; its worker and lease."""
    worker = await calls.runtime.fetchval("select queues.register_worker('w', array[$1], '1 day')", QUEUE)
    (lease,) = await call(calls.runtime, "queues.claim", worker, QUEUE, 1)
    return worker, lease["lease_id"]


async def die(calls: DocumentCalls, code: str = "ParserBroken", message: str = "page 7 is torn") -> None:
    worker, lease = await claimed(calls)
    (ended,) = await call(calls.runtime, "queues.fail", worker, [lease], [code], [message], final=[True])
    assert ended["outcome"] == "dead"


async def vanish(calls: DocumentCalls) -> None:
    """Lose every trace of the tasks, as a restore of an older backup would."""
    for table in ("ready", "waiting", "parked", "held", "freed", "task", "attempt"):
        await calls.admin.execute(f"delete from queues.{table}")


async def test_a_document_whose_task_died_fails_with_the_letters_reason(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        document = await calls.document(acme)
        await die(calls)
        other = await calls.create_tenant("other")
        alive = await calls.document(other)
        assert await settle(calls) == 1
        row = await calls.row(document)
        assert (row["status"], row["reason_code"], row["error_message"]) == (
            "failed", "ParserBroken", "page 7 is torn",
        )  # fmt: skip
        (ingestion,) = await calls.ingestions(document)
        assert (ingestion["status"], ingestion["error_code"]) == ("failed", "ParserBroken")
        assert await calls.status(alive) == "pending"
        assert [e["event"] for e in await calls.events(alive)] == ["taken_in"]
        assert await settle(calls) == 0


async def test_a_document_whose_task_was_cancelled_fails_as_cancelled(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        document = await calls.document(acme)
        task = (await calls.row(document))["task_id"]
        await call(calls.operator, "queues.cancel_task", task)
        assert await settle(calls) == 1
        row = await calls.row(document)
        assert (row["status"], row["reason_code"]) == ("failed", "cancelled")
        assert [i["status"] for i in await calls.ingestions(document)] == ["failed"]


async def test_a_document_whose_task_left_no_trace_is_enqueued_again(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        document = await calls.document(acme)
        lost = (await calls.row(document))["task_id"]
        await vanish(calls)
        assert await settle(calls) == 1
        row = await calls.row(document)
        assert (row["status"], row["task_id"] > lost) == ("pending", True)
        assert (await calls.events(document))[-1]["event"] == "enqueued_again"
        assert await settle(calls, minutes=60) == 0
        worker, _ = await claimed(calls)
        assert worker > 0


@pytest.mark.parametrize("state", ["ready", "running", "waiting", "parked"])
async def test_a_document_whose_task_lives_is_left_alone(database: Database, state: str) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        document = await calls.document(acme)
        if state != "waiting":
            queue_id = await calls.admin.fetchval(
                "select queue_id from queues.queue where queue_name = $1", QUEUE
            )
            await call(calls.runtime, "queues.admit", queue_id)
        if state in ("running", "parked"):
            await claimed(calls)
            await calls.begin(acme, document, task_id=(await calls.row(document))["task_id"])
            if state == "parked":
                await calls.of(acme, "ingest.reindex_document", document)
                await call(calls.runtime, "queues.admit", queue_id)
        task = (await calls.row(document))["task_id"]
        assert await calls.admin.fetchval("select queues.task_state($1)", task) == state
        before = await calls.row(document)
        assert await settle(calls, minutes=30) == 0
        assert await calls.row(document) == before


async def test_a_document_that_changed_a_moment_ago_is_left_alone(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        document = await calls.document(acme)
        await die(calls)
        assert await settle(calls, minutes=0.9) == 0
        assert await calls.status(document) == "pending"


async def test_an_earlier_dead_letter_does_not_fail_a_retried_document(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        document = await calls.document(acme)
        await die(calls)
        assert await settle(calls) == 1
        await calls.clock.advance(seconds=1)
        await calls.of(acme, "ingest.retry_document", document)
        await vanish(calls)
        assert await settle(calls) == 1
        assert await calls.status(document) == "pending"


async def test_documents_that_ended_are_left_alone(database: Database) -> None:
    async with document_calls(database) as calls:
        acme = await calls.create_tenant("acme")
        document = await calls.document(acme)
        await vanish(calls)
        for status in ("indexed", "skipped", "failed", "deleted"):
            await calls.set_status(document, status)
            assert await settle(calls, minutes=30) == 0


@pytest.mark.parametrize("tenant", ["", "018f0000-0000-7000-8000-000000000001"])
async def test_settling_leaves_the_transaction_as_it_found_it(database: Database, tenant: str) -> None:
    async with document_calls(database) as calls:
        await calls.document(await calls.create_tenant("acme"))
        await die(calls)
        await calls.clock.advance(minutes=2)
        async with calls.runtime.transaction():
            await calls.runtime.execute("select set_config('penstock.tenant_id', $1, true)", tenant)
            assert await calls.runtime.fetchval("select all_tenants.settle_documents()") == 1
            assert await calls.runtime.fetchval("select current_setting('penstock.tenant_id')") == tenant


async def test_a_document_locked_by_another_transaction_is_skipped(database: Database) -> None:
    async with document_calls(database) as calls, database.connect("admin", name="holder") as holder:
        acme = await calls.create_tenant("acme")
        held = await calls.document(acme, b"held")
        await die(calls)
        free = await calls.document(acme, b"free")
        await die(calls)
        async with holder.transaction():
            await holder.execute("select from ingest.document where document_id = $1 for update", held)
            assert await settle(calls) == 1
        assert (await calls.status(held), await calls.status(free)) == ("pending", "failed")
        assert await settle(calls) == 1
