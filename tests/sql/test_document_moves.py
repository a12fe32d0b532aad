"""Status changes of a document and its ingestions: allowed ones are recorded, all others change nothing."""

from __future__ import annotations

import itertools
from uuid import UUID

import asyncpg
import pytest

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.document_calls import CODE, DocumentCalls, Run, Tenant, document_calls

STATUSES = ("pending", "processing", "embedding", "indexed", "skipped", "failed", "deleted")

MOVES = {
    # A run goes forward;
    ("pending", "processing"),
    ("processing", "embedding"),
    ("embedding", "indexed"),
    # between attempts, and after a lost lease, it waits again;
    ("processing", "pending"),
    ("embedding", "pending"),
    # it ends for good out of attempts, also when its task died before it began;
    ("pending", "failed"),
    ("processing", "failed"),
    ("embedding", "failed"),
    ("processing", "skipped"),
    # a person or a change sends it back;
    ("failed", "pending"),
    ("skipped", "pending"),
    ("indexed", "pending"),
    # a re-index of its project indexes a failed one at once;
    ("failed", "indexed"),
    # and everything is deleted, once.
    *((status, "deleted") for status in STATUSES if status != "deleted"),
}


def refusal(error: pytest.ExceptionInfo[asyncpg.PostgresError]) -> str | None:
    return error.value.sqlstate


async def test_exactly_the_allowed_status_changes_happen_and_each_is_recorded_once(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        wrong: list[str] = []
        for number, (source, target) in enumerate(itertools.product(STATUSES, repeat=2)):
            document = await calls.document(tenant, str(number).encode())
            await calls.set_status(document, source)
            before, events = await calls.row(document), await calls.events(document)
            try:
                answer = await _move(calls, tenant, document, target)
            except asyncpg.PostgresError as error:
                unchanged = await calls.row(document) == before and await calls.events(document) == events
                if (source, target) in MOVES or error.sqlstate != "PS011" or not unchanged:
                    wrong.append(f"{source} to {target}: {error.sqlstate}, unchanged {unchanged}")
            else:
                new = (await calls.events(document))[len(events) :]
                told = [(e["event"], e["from_status"], e["to_status"], e["reason_code"]) for e in new]
                moved = await calls.status(document) == target and answer == source
                if (source, target) not in MOVES or not moved or told != [("tried", source, target, "why")]:
                    wrong.append(f"{source} to {target}: {answer}, {told}")
        assert wrong == []


async def _move(calls: DocumentCalls, tenant: Tenant, document: UUID, target: str) -> object:
    """As the functions do it: they run as their owner, who alone may call this one."""
    async with calls.admin.transaction():
        await calls.admin.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant.tenant_id))
        return await calls.admin.fetchval(
            "select ingest.move_document($1, $2::ingest.document_status, 'tried', 'why', 'because')",
            document,
            target,
        )


async def test_one_function_changes_the_status_of_a_document(database: Database) -> None:
    """One function changes the status; every other one calls it, and no login may."""
    async with database.connect("admin") as admin:
        writers = await admin.fetch(
            r"""
            select p.proname from pg_proc p
            join pg_namespace n on n.oid = p.pronamespace
            where n.nspname in ('accounts', 'files', 'ingest', 'search', 'vault', 'all_tenants')
              and p.prosrc ~ 'update\s+ingest\.document\s+(as\s+)?\w*\s*set((?!\mwhere\M)[^;])*\mstatus\s*='
            """
        )
        assert [row["proname"] for row in writers] == ["move_document"]
        assert not await admin.fetchval(
            "select has_function_privilege('penstock_runtime', p.oid, 'execute')"
            " or has_function_privilege('penstock_operator', p.oid, 'execute')"
            " from pg_proc p where p.proname = 'move_document'"
        )


async def test_a_run_records_each_stage(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        await calls.index(tenant, document)
        told = [(e["event"], e["from_status"], e["to_status"]) for e in await calls.events(document)]
        assert told == [
            ("taken_in", None, "pending"),
            ("started", "pending", "processing"),
            ("chunked", "processing", "embedding"),
            ("indexed", "embedding", "indexed"),
        ]
        (ingestion,) = await calls.ingestions(document)
        assert (ingestion["status"], ingestion["finished_at"] is not None) == ("indexed", True)


@pytest.mark.parametrize(
    ("constraint", "change"),
    [
        ("source_is_exactly_one", "uploaded_by = null"),
        ("source_is_exactly_one", "source_id = (select source_id from ingest.source limit 1)"),
        ("finished_has_a_time", "finished_at = now()"),
        ("finished_has_a_time", "status = 'indexed'"),
        ("skip_has_a_reason", "status = 'skipped', finished_at = now()"),
        ("skip_has_a_reason", "skip_reason = 'because'"),
    ],
)
async def test_an_ingestion_says_where_it_came_from_when_it_ended_and_why(
    database: Database, constraint: str, change: str
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        await calls.webhook(tenant)
        document = await calls.document(tenant)
        with pytest.raises(asyncpg.CheckViolationError) as refused:
            await calls.admin.execute(
                f"update ingest.ingestion set {change} where document_id = $1", document
            )
        assert refused.value.constraint_name == constraint


@pytest.mark.parametrize("both", [True, False], ids=["both", "neither"])
async def test_a_document_needs_exactly_one_origin(database: Database, both: bool) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        source = await calls.webhook(tenant)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await calls.take_in(
                tenant,
                b"one",
                source_id=source if both else None,
                uploaded_by="tests" if both else None,
            )
        assert refusal(refused) == "PS005"
        assert await calls.admin.fetchval("select count(*) from ingest.document") == 0


async def overtaken(calls: DocumentCalls, tenant: Tenant) -> tuple[Run, Run]:
    """A run whose worker was lost, and the one that began after it."""
    document = await calls.document(tenant)
    first = await calls.begin(tenant, document, task_id=7)
    await calls.embed(tenant, first)
    return first, await calls.begin(tenant, document, task_id=7)


LATE_CALLS: dict[str, tuple[object, ...]] = {
    "start_embedding": ({},),
    "fail_run": ("index", "crash", "it broke", True),
    "skip_run": ("a rule",),
    "note_wait": ("index", "budget", "later", 5.0),
}


async def late(calls: DocumentCalls, tenant: Tenant, run: Run, function: str) -> object:
    if function == "finish_run":
        return await calls.finish(tenant, run)
    if function == "begin_run":
        return (await calls.of(tenant, "ingest.begin_run", run.document_id, 1, 1, CODE))["mode"]
    arguments = (run.document_id, run.generation, *LATE_CALLS[function])
    return await calls.of(tenant, f"ingest.{function}", *arguments)


@pytest.mark.parametrize("function", [*LATE_CALLS, "finish_run"])
async def test_a_superseded_run_changes_nothing(database: Database, function: str) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        first, _ = await overtaken(calls, tenant)
        before = await calls.row(first.document_id), await calls.events(first.document_id)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await late(calls, tenant, first, function)
        assert refusal(refused) == "PS006"
        assert (await calls.row(first.document_id), await calls.events(first.document_id)) == before
        assert await calls.admin.fetchval("select count(*) from ingest.sweep") == 0
        assert [i["status"] for i in await calls.ingestions(first.document_id)] == ["processing"]


async def test_a_lost_run_is_recorded_and_the_next_one_finishes(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        first, second = await overtaken(calls, tenant)
        assert second.generation == first.generation + 1
        told = [
            (e["event"], e["from_status"], e["reason_code"]) for e in await calls.events(first.document_id)
        ]
        assert told[-2:] == [("run_lost", "embedding", "worker_lost"), ("started", "pending", None)]
        await calls.embed(tenant, second)
        assert await calls.finish(tenant, second) == "indexed"
        assert (await calls.row(first.document_id))["live_generation"] == second.generation


@pytest.mark.parametrize("function", [*LATE_CALLS, "finish_run", "begin_run"])
async def test_a_run_of_a_document_deleted_meanwhile_does_nothing(database: Database, function: str) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        run = await calls.begin(tenant, document)
        assert await calls.of(tenant, "ingest.delete_document", document) == 1
        before = await calls.row(document), await calls.events(document)
        answer = await late(calls, tenant, run, function)
        assert answer == {"finish_run": "gone", "begin_run": "gone", "start_embedding": False}.get(
            function, answer
        )
        assert (await calls.row(document), await calls.events(document)) == before
        assert [(i["status"], i["skip_reason"]) for i in await calls.ingestions(document)] == [
            ("skipped", "deleted")
        ]


@pytest.mark.parametrize("embedding", [True, False])
async def test_content_changed_during_a_run_is_run_again(database: Database, embedding: bool) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        run = await calls.begin(tenant, document)
        if embedding:
            await calls.embed(tenant, run)
        changed = await calls.of(
            tenant, "ingest.put_content", document, uuid7(), uuid7(), b"\1" * 32, 3, "text/plain", "txt",
            CODE, uploaded_by="tests",
        )  # fmt: skip
        assert (changed["status"], changed["write_blob"]) == ("queued", True)
        assert await calls.finish(tenant, run) == "stale"
        row = await calls.row(document)
        assert (row["status"], row["live_generation"], row["indexed_sha256"]) == ("pending", 0, None)
        assert row["task_id"] > changed["task_id"]
        assert (await calls.events(document))[-1]["event"] == "overtaken"
        assert {i["status"] for i in await calls.ingestions(document)} <= {"queued", "processing"}
        assert await calls.admin.fetchval("select count(*) from ingest.sweep") == 1
        await calls.index(tenant, document)
        assert {i["status"] for i in await calls.ingestions(document)} == {"indexed"}


async def test_settings_changed_during_a_run_are_run_again(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        run = await calls.begin(tenant, document)
        await calls.embed(tenant, run)
        await calls.of(tenant, "accounts.set_project", "default", {"chunk_tokens": 100})
        assert await calls.finish(tenant, run) == "stale"
        await calls.index(tenant, document)


async def test_a_failure_between_attempts_waits_and_a_final_one_ends_without_touching_what_is_live(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        live = await calls.index(tenant, document)
        await calls.of(tenant, "ingest.reindex_document", document)
        for final, status in ((False, "pending"), (True, "failed")):
            run = await calls.begin(tenant, document)
            await calls.of(
                tenant, "ingest.fail_run", document, run.generation, "index", "crash", "it broke", final
            )
            row = await calls.row(document)
            assert (row["status"], row["reason_code"], row["error_message"]) == (status, "crash", "it broke")
            assert row["live_generation"] == live.generation
        swept = await calls.admin.fetch("select generation from ingest.sweep order by 1")
        assert [row[0] for row in swept] == [live.generation + 1, live.generation + 2]
        assert [i["status"] for i in await calls.ingestions(document)] == ["indexed"]


async def test_a_retry_keeps_the_old_diagnosis_until_it_is_indexed(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        run = await calls.begin(tenant, document)
        await calls.of(tenant, "ingest.fail_run", document, run.generation, "index", "empty", "no text", True)
        await calls.of(tenant, "ingest.retry_document", document)
        assert (await calls.row(document))["reason_code"] == "empty"
        with pytest.raises(asyncpg.PostgresError) as refused:
            await calls.of(tenant, "ingest.retry_document", document)
        assert refusal(refused) == "PS011"
        await calls.index(tenant, document)
        assert (await calls.row(document))["reason_code"] is None
        assert "failed" in [e["event"] for e in await calls.events(document)]


async def test_a_skip_ends_its_ingestions_with_the_reason(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        await calls.take_in(tenant, b"one")
        run = await calls.begin(tenant, document)
        await calls.of(tenant, "ingest.skip_run", document, run.generation, "too short")
        assert await calls.status(document) == "skipped"
        assert [(i["status"], i["skip_reason"]) for i in await calls.ingestions(document)] == [
            ("skipped", "too short")
        ] * 2
        assert (await calls.of(tenant, "ingest.begin_run", document, 2, 1, CODE)) == {"mode": "done"}
        again = await calls.take_in(tenant, b"one")
        assert (again["created"], again["status"]) == (False, "queued")
        assert await calls.status(document) == "pending"
