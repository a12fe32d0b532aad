"""The call that ends a run of one batch: everything is written, or nothing."""

from __future__ import annotations

import hashlib
from typing import Any

import asyncpg
import pytest

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.document_calls import CODE, DocumentCalls, Run, Tenant, document_calls

TEXT = "the miller opens the sluice"
SHA256 = hashlib.sha256(TEXT.encode()).digest()
VECTOR = bytes([0, 60]) * 4


async def begun(calls: DocumentCalls, tenant: Tenant, content: bytes = b"one") -> Run:
    run = await calls.begin(tenant, await calls.document(tenant, content))
    assert await calls.embed(tenant, run)
    return run


async def publish(calls: DocumentCalls, tenant: Tenant, run: Run, **named: Any) -> str:
    given: dict[str, Any] = {
        "document_id": run.document_id,
        "generation": run.generation,
        "mode": run.mode,
        "content_sha256": run.sha256,
        "pipeline": run.pipeline,
        "facts": {"counts": {"chunks": 1, "tokens": 5}},
        "code_version": CODE,
        "model": "words-4",
        "new_sha256s": [SHA256],
        "new_embeddings": [VECTOR],
        "new_token_counts": [5],
        "ordinals": [0],
        "chunk_ids": [uuid7()],
        "texts": [TEXT],
        "token_counts": [5],
        "char_starts": [0],
        "char_ends": [len(TEXT)],
        "pages_from": [None],
        "pages_to": [None],
        "heading_paths": "[[]]",
        "sha256s": [SHA256],
        "embeddings": ["[1,1,1,1]"],
        "headings": "[[]]",
        "title": None,
        "language": None,
    }
    return str(await calls.of(tenant, "ingest.publish_run", **(given | named)))


async def counts(calls: DocumentCalls) -> tuple[int, int, int]:
    row = await calls.admin.fetchrow(
        "select (select count(*) from ingest.chunk), (select count(*) from ingest.posting),"
        " (select count(*) from ingest.embedding_cache)"
    )
    assert row is not None
    return row[0], row[1], row[2]


async def test_it_keeps_the_embeddings_stages_the_chunks_and_makes_them_live(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        run = await begun(calls, tenant)
        assert await publish(calls, tenant, run) == "indexed"
        document = await calls.row(run.document_id)
        assert (document["status"], document["live_generation"]) == ("indexed", run.generation)
        assert await counts(calls) == (1, 3, 1)


async def test_a_deleted_document_gets_no_chunks_but_its_embeddings_are_kept(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        run = await begun(calls, tenant)
        await calls.of(tenant, "ingest.delete_document", run.document_id)
        assert await publish(calls, tenant, run) == "gone"
        assert await counts(calls) == (0, 0, 1)


async def test_a_run_that_a_later_one_replaced_writes_nothing(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        run = await begun(calls, tenant)
        later = await calls.begin(tenant, run.document_id, task_id=2)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await publish(calls, tenant, run)
        assert refused.value.sqlstate == "PS006"
        assert await counts(calls) == (0, 0, 0)
        assert await calls.embed(tenant, later)
        assert await publish(calls, tenant, later) == "indexed"


async def test_content_that_changed_meanwhile_is_not_published_and_runs_again(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme")
        run = await begun(calls, tenant)
        assert await publish(calls, tenant, run, content_sha256=hashlib.sha256(b"older").digest()) == "stale"
        assert await calls.status(run.document_id) == "pending"
        swept = await calls.admin.fetchval("select generation from ingest.sweep")
        assert swept == run.generation


async def test_another_tenants_document_is_not_published(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant, other = await calls.create_tenant("acme"), await calls.create_tenant("other")
        run = await begun(calls, tenant)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await publish(calls, other, run)
        assert refused.value.sqlstate == "PS006"
        assert await counts(calls) == (0, 0, 0)
        assert await calls.status(run.document_id) == "embedding"


async def test_starting_a_batch_says_what_is_cached_and_what_may_be_spent(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("acme", monthly_token_budget=1_000)
        run = await begun(calls, tenant)
        assert await publish(calls, tenant, run) == "indexed"
        second = await calls.begin(tenant, await calls.document(tenant, b"two"))
        unknown = hashlib.sha256(b"unknown").digest()
        (row,) = await calls.rows(
            tenant,
            "ingest.start_batch",
            second.document_id,
            second.generation,
            {},
            None,
            "words-4",
            [unknown, SHA256],
        )
        assert tuple(row) == (True, 1_000, [SHA256], [VECTOR])
        await calls.of(tenant, "ingest.delete_document", second.document_id)
        (row,) = await calls.rows(
            tenant, "ingest.start_batch", second.document_id, second.generation, {}, None, "words-4", [SHA256]
        )
        assert tuple(row) == (False, None, None, None)
