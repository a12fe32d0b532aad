"""A re-index in SQL: its shards, their fence, and what a close publishes."""

from __future__ import annotations

import hashlib
import json
from uuid import UUID

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.bulk_calls import FACTS, Bulk, indexed_documents
from tests.sql.document_calls import CODE, DocumentCalls, Tenant, document_calls

PLACES = """
insert into ingest.bulk_run (
  run_id, tenant_id, project_id, embedder, switches, settings, engine, shard_documents, shard_bytes,
  started_by, started_at, updated_at)
values ($1, $2, $3, 'wordllama', false, '', 'ray', $4, $5, 'tests', now(), now())
"""


async def change(calls: DocumentCalls, tenant: Tenant, document_id: UUID, content: bytes) -> None:
    """Other content under the same document, waiting for its run."""
    await calls.of(
        tenant,
        "ingest.put_content",
        document_id,
        uuid7(),
        uuid7(),
        hashlib.sha256(content).digest(),
        len(content),
        "text/plain",
        "txt",
        CODE,
        uploaded_by="tests",
    )


async def test_a_zombie_can_neither_stage_nor_close_a_shard_that_another_worker_took_over(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        (document,) = await indexed_documents(calls, tenant, 1)
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        zombie = await bulk.claim(shard, "zombie")
        stale = await bulk.begin(shard, zombie, document)
        assert (await bulk.of("claim_shard", shard, "other"))["state"] == "held"
        await calls.clock.advance(minutes=2)
        token = await bulk.claim(shard, "other")
        assert token == zombie + 1
        assert not await bulk.of("beat_shard", shard, zombie)
        assert not await bulk.of("release_shard", shard, zombie)
        late = (
            ("end_bulk_document", (document, stale["generation"], FACTS)),
            ("begin_bulk_document", (document, CODE)),
            ("shard_documents", (CODE,)),
            ("close_shard", ()),
        )
        for function, arguments in late:
            with pytest.raises(asyncpg.PostgresError) as refused:
                await bulk.of(function, shard, zombie, *arguments)
            assert refused.value.sqlstate == "PS006"
        await bulk.stage_all(shard, token)
        assert (await bulk.close(shard, token))["indexed"] == 1
        for stale_token in (zombie, token):
            with pytest.raises(asyncpg.PostgresError) as refused:
                await bulk.close(shard, stale_token)
            assert refused.value.sqlstate == "PS006"
        assert await bulk.finish() == "done"
        assert [event["event"] for event in await calls.events(document)].count("reindexed") == 1


async def test_every_document_is_in_exactly_one_shard_whatever_their_number_and_sizes(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        pool = [await calls.document(tenant, f"d{n}".encode()) for n in range(40)]

        async def check(sizes: list[int], documents: int, size: int, step: int) -> None:
            await calls.admin.execute("delete from ingest.bulk_run")
            await calls.admin.execute(
                "update ingest.document d set status = case when g.size is null then 'pending' else"
                " 'indexed' end::ingest.document_status, size_bytes = coalesce(g.size, 1)"
                " from unnest($1::uuid[], $2::bigint[]) as g (document_id, size)"
                " where d.document_id = g.document_id",
                pool,
                [*sizes, *[None] * (len(pool) - len(sizes))],
            )
            run_id = uuid7()
            await calls.admin.execute(PLACES, run_id, tenant.tenant_id, tenant.project_id, documents, size)
            while await calls.of(tenant, "ingest.plan_bulk", run_id, CODE, step):
                pass
            rows = await calls.admin.fetch(
                "select s.shard, s.documents, array_agg(d.document_id) as ids, sum(d.size_bytes) as bytes,"
                " max(d.size_bytes) as largest from ingest.bulk_shard s join ingest.document d"
                " on d.document_id between s.first_id and s.last_id and d.status = 'indexed'"
                " where s.run_id = $1 group by s.shard, s.documents order by s.shard",
                run_id,
            )
            covered = [document for row in rows for document in row["ids"]]
            assert sorted(covered) == sorted(pool[: len(sizes)])
            assert [row["shard"] for row in rows] == list(range(len(rows)))
            for row in rows:
                assert len(row["ids"]) == row["documents"] <= documents
                assert row["bytes"] <= size + row["largest"]

        # Hypothesis runs plain functions, and this loop is busy: the cases are drawn first.
        cases: list[tuple[list[int], int, int, int]] = []

        @settings(max_examples=40, deadline=None, database=None)
        @given(
            st.lists(st.integers(0, 3000), max_size=40),
            st.integers(1, 12),
            st.integers(1, 5000),
            st.integers(1, 4),
        )
        def draw(sizes: list[int], documents: int, size: int, step: int) -> None:
            cases.append((sizes, documents, size, step))

        draw()
        for case in cases:
            await check(*case)


async def test_a_document_changed_during_the_run_keeps_the_newer_version_and_a_deleted_one_stays_deleted(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        documents = await indexed_documents(calls, tenant, 6)
        changed, overtaken, deleted, unread, gone, plain = documents
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        await calls.of(tenant, "ingest.delete_document", gone)
        token = await bulk.claim(shard)
        await change(calls, tenant, unread, b"changed before it was read")
        generations = {each: await bulk.stage(shard, token, each) for each in documents if each != gone}
        assert generations[unread] is None
        await change(calls, tenant, changed, b"other content")
        await change(calls, tenant, overtaken, b"newer content")
        newer = await calls.index(tenant, overtaken)
        await calls.of(tenant, "ingest.delete_document", deleted)
        counts = await bulk.close(shard, token)
        assert (counts["indexed"], counts["newer"], counts["gone"], counts["failed"]) == (1, 3, 2, 0)
        assert (await calls.row(plain))["live_generation"] == generations[plain]
        assert (await calls.row(plain))["title"] == "new"
        assert (await calls.row(overtaken))["live_generation"] == newer.generation
        assert (await calls.row(changed))["status"] == "pending"
        assert (await calls.row(deleted))["live_generation"] == 0
        await calls.index(tenant, changed)
        assert (await calls.row(changed))["indexed_sha256"] == hashlib.sha256(b"other content").digest()
        assert await bulk.finish() == "done"
        assert await calls.admin.fetchval("select count(*) from ingest.bulk_document") == 0
        swept = {row[0] for row in await calls.admin.fetch("select generation from ingest.sweep")}
        assert generations[changed] in swept


async def test_a_run_of_a_document_that_began_before_the_shard_is_not_disturbed(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        (document,) = await indexed_documents(calls, tenant, 1)
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        await calls.of(tenant, "ingest.reindex_document", document)
        run = await calls.begin(tenant, document)
        token = await bulk.claim(shard)
        assert await bulk.stage(shard, token, document) is None
        await calls.embed(tenant, run)
        assert await calls.finish(tenant, run) == "indexed"
        assert (await bulk.close(shard, token))["newer"] == 1


async def test_a_failed_document_is_indexed_and_one_that_fails_keeps_what_is_live(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        mended, broken = await indexed_documents(calls, tenant, 2)
        await calls.set_status(mended, "failed")
        live = (await calls.row(broken))["live_generation"]
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        await bulk.stage(shard, token, mended)
        job = await bulk.begin(shard, token, broken)
        await bulk.of(
            "end_bulk_document", shard, token, broken, job["generation"], code="empty", message="no text"
        )
        counts = await bulk.close(shard, token)
        assert (counts["indexed"], counts["failed"]) == (1, 1)
        assert (await calls.row(mended))["status"] == "indexed"
        assert ((await calls.row(broken))["status"], (await calls.row(broken))["live_generation"]) == (
            "indexed",
            live,
        )
        failures = (await bulk.explained())["failures"]
        assert failures == [{"document_id": str(broken), "reason": "empty", "message": "no text"}]


async def test_a_document_that_ends_its_worker_three_times_fails_and_the_others_of_its_shard_do_not(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        poison, fine = await indexed_documents(calls, tenant, 2)
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        for _ in range(3):
            token = await bulk.claim(shard, "the same engine")
            assert (await bulk.begin(shard, token, poison))["mode"] == "stage"
        token = await bulk.claim(shard, "the same engine")
        assert (await bulk.begin(shard, token, poison))["outcome"] == "failed"
        await bulk.stage(shard, token, fine)
        counts = await bulk.close(shard, token)
        assert (counts["indexed"], counts["failed"]) == (1, 1)
        assert (await bulk.explained())["failures"][0]["reason"] == "worker_lost"


async def test_a_shard_given_back_uses_no_attempt_and_keeps_what_it_staged(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        staged, begun = await indexed_documents(calls, tenant, 2)
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        generation = await bulk.stage(shard, token, staged)
        for _ in range(5):
            await bulk.begin(shard, token, begun)
            assert await bulk.of("release_shard", shard, token, "busy", 10)
            shown = await bulk.explained()
            assert (shown["reason"], shown["held_shards"], shown["done"]) == ("busy", 0, 1)
            token = await bulk.claim(shard, "another")
        assert await bulk.documents(shard, token) == [begun]
        await bulk.stage(shard, token, begun)
        assert (await bulk.close(shard, token))["indexed"] == 2
        assert (await calls.row(staged))["live_generation"] == generation
        assert (await bulk.explained())["reason"] is None


async def test_a_shard_with_a_document_in_work_cannot_be_closed(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        (document,) = await indexed_documents(calls, tenant, 1)
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        await bulk.begin(shard, token, document)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await bulk.close(shard, token)
        assert refused.value.sqlstate == "PS011"


async def test_a_switch_publishes_nothing_before_every_document_is_staged_as_it_is(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        documents = await indexed_documents(calls, tenant, 3)
        live = {each: (await calls.row(each))["live_generation"] for each in documents}
        bulk = await Bulk.start(calls, tenant, "minilm", engine="ray")
        (shard,) = await bulk.planned()
        await bulk.work(shard)
        assert {each: (await calls.row(each))["live_generation"] for each in documents} == live
        # One changes after it was staged, one is added: both go through another pass.
        await change(calls, tenant, documents[0], b"changed after it was staged")
        added = await calls.document(tenant, b"added")
        assert await bulk.finish() == "waiting"
        await calls.index(tenant, documents[0])
        await calls.index(tenant, added)
        assert await bulk.finish() == "plan"
        (second,) = await bulk.planned()
        assert (await bulk.work(second))["indexed"] == 2
        assert await bulk.finish() == "done"
        project = await calls.admin.fetchrow("select embedder, next_embedder from accounts.project")
        assert project is not None
        assert tuple(project) == ("minilm", None)
        for each in (*documents, added):
            row = await calls.row(each)
            assert row["indexed_sha256"] == row["content_sha256"]
            assert "minilm" in row["indexed_pipeline"]


async def test_settings_changed_during_a_run_cause_another_pass(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        (document,) = await indexed_documents(calls, tenant, 1)
        bulk = await Bulk.start(calls, tenant, engine="ray")
        (shard,) = await bulk.planned()
        await bulk.work(shard)
        await calls.of(tenant, "accounts.set_project", "default", {"chunk_tokens": 100})
        assert await bulk.finish() == "plan"
        (again,) = await bulk.planned()
        await bulk.work(again)
        assert await bulk.finish() == "done"
        assert "|100|" in (await calls.row(document))["indexed_pipeline"]


async def test_a_switch_leaves_failed_documents_alone_whenever_they_failed(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        first, failed, fails_later, last = await indexed_documents(calls, tenant, 4)
        await calls.set_status(failed, "failed")
        bulk = await Bulk.start(calls, tenant, "minilm", engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        assert await bulk.documents(shard, token) == [first, fails_later, last]
        assert await bulk.stage(shard, token, failed) is None
        for each in (first, fails_later, last):
            await bulk.stage(shard, token, each)
        assert (await bulk.close(shard, token))["indexed"] == 3
        staged = (await calls.row(fails_later))["staged_generation"]
        await calls.of(tenant, "ingest.reindex_document", fails_later)
        run = await calls.begin(tenant, fails_later)
        await calls.of(
            tenant, "ingest.fail_run", fails_later, run.generation, run.mode, "empty", "no text", True
        )
        assert await bulk.finish() == "done"
        for document, live in ((failed, 0), (fails_later, 1)):
            row = await calls.row(document)
            assert (row["status"], row["live_generation"], row["staged_generation"]) == ("failed", live, None)
        for document in (first, last):
            assert "minilm" in (await calls.row(document))["indexed_pipeline"]
        swept = "select count(*) from ingest.sweep where document_id = $1 and generation = $2"
        assert await calls.admin.fetchval(swept, fails_later, staged) == 1


async def test_a_document_that_fails_while_it_is_staged_for_a_switch_is_not_staged(
    database: Database,
) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        good, failing = await indexed_documents(calls, tenant, 2)
        bulk = await Bulk.start(calls, tenant, "minilm", engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        await bulk.stage_all(shard, token)
        await calls.set_status(failing, "failed")
        counts = await bulk.close(shard, token)
        assert (counts["indexed"], counts["newer"]) == (1, 1)
        assert await bulk.finish() == "done"
        assert (await calls.row(failing))["live_generation"] == 0
        assert "minilm" in (await calls.row(good))["indexed_pipeline"]


@pytest.mark.parametrize("embedder", ["wordllama", "minilm"])
async def test_a_document_says_what_the_newest_reading_found_and_how_it_was_read(
    database: Database, embedder: str
) -> None:
    """Also after a switch of models: the file was read again by the present code."""
    old = {"title": "old", "language": "en", "parser": "plain", "warnings": ["was hard to read"]}
    new = {"title": "new", "language": "de", "parser": "layout", "warnings": [], "page_count": 3}
    reading = {"parser": "layout", "pdf_reading": "layout 1-3", "ocr_confidence": "2: 41"}
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        document = await calls.document(tenant)
        await calls.index(tenant, document, old)
        bulk = await Bulk.start(calls, tenant, embedder, engine="ray")
        (shard,) = await bulk.planned()
        token = await bulk.claim(shard)
        job = await bulk.begin(shard, token, document)
        facts = {**FACTS, **new, "reading": reading}
        await bulk.of("end_bulk_document", shard, token, document, job["generation"], facts)
        await bulk.close(shard, token)
        assert await bulk.finish() == "done"
        row = await calls.row(document)
        assert {name: row[name] for name in new} == new
        details = [json.loads(event["detail"]) for event in await calls.events(document) if event["detail"]]
        (said,) = [each for each in details if "ocr_confidence" in each]
        assert {name: said[name] for name in reading} == reading
        assert (said["chunks"], said["run_id"]) == (1, str(bulk.run_id))
