"""The move from one collection per tenant, project and model to one per model."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import IndexUnavailable
from penstock.model import DocumentId
from tests.integration.qdrant_tenants import client, names, payloads, qdrant_index, qdrant_tenant, simulated
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.forked import start
from tests.plugins.workers import ROOT
from tests.sql.indexed_tenant import IndexedTenant, chunks_of, indexed_tenant

if TYPE_CHECKING:
    from penstock.index.qdrant import QdrantIndex

NEW = "penstock_words-64_428eb1b7"


def old_name(tenant: IndexedTenant) -> str:
    digest = hashlib.sha256(tenant.words.model.encode()).hexdigest()[:8]
    return f"penstock_{tenant.tenant_id.hex}_{tenant.project_id.hex}_{digest}"


async def put_old(tenant: IndexedTenant, *texts: str, **columns: Any) -> DocumentId:
    """A live document as the version before wrote it."""
    from qdrant_client import models

    from penstock.index.chunk_rows import chunk_id, stage_rows
    from penstock.index.qdrant_points import DENSE, SPARSE, sparse_of
    from penstock.index.vectors import as_floats

    document_id = await tenant.document(chunks=len(texts), **columns)
    chunks = chunks_of(texts)
    await stage_rows(tenant.tenants, tenant.tenant_id, document_id, 1, chunks, tenant.words.model, None)
    name = old_name(tenant)
    if not await client(tenant).collection_exists(name):
        await client(tenant).create_collection(
            name,
            vectors_config={DENSE: models.VectorParams(size=64, distance=models.Distance.DOT)},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
    await client(tenant).upsert(
        name,
        [
            models.PointStruct(
                id=str(chunk_id(document_id, 1, chunk.ordinal)),
                vector={
                    DENSE: as_floats(tenant.words.vector(chunk.embedder_input)),
                    SPARSE: sparse_of(dict.fromkeys(chunk.text.split(), 1.0)),
                },
                payload={
                    "tenantId": str(tenant.tenant_id),
                    "projectId": str(tenant.project_id),
                    "documentId": str(document_id),
                    "chunkIndex": chunk.ordinal,
                    "generation": 1,
                    "tokenCount": chunk.token_count,
                    "contentPreview": chunk.text[:200],
                    "pageNumber": chunk.page_from,
                    "sectionTitle": "Part",
                    "isDeleted": False,
                    "createdAt": "2026-01-01T00:00:00+00:00",
                },
            )
            for chunk in chunks
        ],
        wait=True,
    )
    await tenant.flip(document_id)
    return document_id


def index_of(tenant: IndexedTenant) -> QdrantIndex:
    from penstock.index.qdrant import QdrantIndex

    assert isinstance(tenant.index, QdrantIndex)
    return tenant.index


async def assert_found(tenant: IndexedTenant, wanted: Sequence[DocumentId]) -> None:
    for mode in ("hybrid", "vector", "text"):
        found = await tenant.found("alpha", mode=mode, limit=100)
        assert sorted(map(str, found)) == sorted(map(str, wanted)), mode


@pytest.mark.parametrize("place", ["server", "local"])
async def test_points_of_all_tenants_are_moved_and_found_before_and_after(
    database: Database, place: str
) -> None:
    async with (
        qdrant_tenant(database, place) as tenant,
        indexed_tenant(database, "other", index=tenant.index) as other,
    ):
        ours = [await put_old(tenant, f"alpha beta{number}") for number in range(4)]
        theirs = [await put_old(other, "alpha gamma")]
        ours.append(await tenant.put("alpha new"))  # written while the old layout is still there
        await assert_found(tenant, ours)
        await assert_found(other, theirs)
        mover = index_of(tenant).mover
        left = await mover.old.look()
        assert [one.name for one in left] == sorted([old_name(tenant), old_name(other)])
        moved = [await mover.move(one) for one in left]
        assert sorted((one.copied, one.left_out) for one in moved) == [(1, 0), (4, 0)]
        assert await names(tenant) == [NEW]
        assert {key for payload in await payloads(tenant) for key in payload} >= {"tenantId", "generation"}
        assert not [payload for payload in await payloads(tenant) if "contentPreview" in payload]
        await assert_found(tenant, ours)
        await assert_found(other, theirs)
        assert await mover.old.look() == []


async def test_searches_are_right_after_each_batch_and_each_document_is_found_once(
    database: Database,
) -> None:
    from penstock.index import qdrant_move

    async with simulated() as (_, url), qdrant_tenant(database, url) as tenant:
        wanted = [await put_old(tenant, f"alpha {number}") for number in range(6)]
        mover = index_of(tenant).mover
        (one,) = await mover.old.look()
        seen = 0

        async def copied(collection: Any, model: str, records: Sequence[Any]) -> int:
            nonlocal seen
            await assert_found(tenant, wanted)
            written = await put(mover, collection, model, records)
            await assert_found(tenant, wanted)
            seen += written
            return written

        put = qdrant_move.QdrantMove._put
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(qdrant_move, "PAGE", 2)
            patched.setattr(qdrant_move.QdrantMove, "_put", lambda self, *given: copied(*given))
            await mover.move(one)
        assert seen == 6
        await assert_found(tenant, wanted)


async def test_a_collection_is_not_dropped_while_a_point_of_it_is_missing(database: Database) -> None:
    from penstock.index.tenant_points import TenantPoints

    async with simulated() as (_, url), qdrant_tenant(database, url) as tenant:
        wanted = [await put_old(tenant, f"alpha {number}") for number in range(3)]
        mover = index_of(tenant).mover
        (one,) = await mover.old.look()
        put = TenantPoints.put
        with pytest.MonkeyPatch.context() as patched:
            # A server that answers well and loses the last point.
            patched.setattr(TenantPoints, "put", lambda self, points: put(self, points[:-1]))
            with pytest.raises(IndexUnavailable, match="still gets new points"):
                await mover.move(one)
        assert old_name(tenant) in await names(tenant)
        await assert_found(tenant, wanted)
        assert (await mover.move(one)).copied == 1
        assert await names(tenant) == [NEW]


async def test_what_was_deleted_meanwhile_does_not_come_back(database: Database) -> None:
    """Before the move, while its page is being written, and by a run that was killed in that moment."""
    from penstock.index.tenant_points import TenantPoints

    async with simulated() as (_, url), qdrant_tenant(database, url) as tenant:
        kept = await put_old(tenant, "alpha kept")
        before, during, killed = [await put_old(tenant, f"alpha {name}") for name in ("x", "y", "z")]
        await tenant.delete(before)
        await tenant.index.drop_document(tenant.tenant_id, before)
        mover = index_of(tenant).mover
        (one,) = await mover.old.look()
        put = TenantPoints.put

        async def late(self: TenantPoints, points: Any, *gone: DocumentId, dies: bool = False) -> None:
            for document_id in gone:
                await tenant.delete(document_id)
                await tenant.index.drop_document(tenant.tenant_id, document_id)
            await put(self, points)
            if dies:
                raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(TenantPoints, "put", lambda self, points: late(self, points, killed, dies=True))
            with pytest.raises(KeyboardInterrupt):
                await mover.move(one)
        assert str(killed) in {payload["documentId"] for payload in await payloads(tenant)}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(TenantPoints, "present", lambda self, ids: _nothing())
            patched.setattr(TenantPoints, "put", lambda self, points: late(self, points, during))
            with pytest.raises(IndexUnavailable):  # nothing is ever there, so it never ends
                await mover.move(one)
        await mover.move(one)
        assert {payload["documentId"] for payload in await payloads(tenant)} == {str(kept)}
        await assert_found(tenant, [kept])


async def _nothing() -> set[str]:
    return set()


async def test_a_deleted_tenants_old_collections_are_dropped(database: Database) -> None:
    async with simulated() as (_, url), qdrant_tenant(database, url) as tenant:
        document_id = await put_old(tenant, "alpha")
        await tenant.delete(document_id)
        await tenant.admin.execute(
            "update accounts.tenant set status = 'deleted', deleted_at = now() where tenant_id = $1",
            tenant.tenant_id,
        )
        await tenant.index.drop_document(tenant.tenant_id, document_id)
        assert old_name(tenant) not in await names(tenant)


async def test_a_move_killed_again_and_again_goes_on_where_it_was(database: Database) -> None:
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        wanted = [
            await put_old(tenant, *[f"alpha {number} {part}" for part in range(5)]) for number in range(4)
        ]
        for pages in (1, 2, 3):
            arguments = ("tests.integration.killed_qdrant_move", database.runtime_url, url, str(pages))
            child = start(arguments, ROOT, os.environ, stdin=None, stdout=None, stderr=None)
            assert await asyncio.to_thread(child.wait) == -signal.SIGKILL
            assert old_name(tenant) in await names(tenant)
        assert len({payload["chunkIndex"] for payload in await payloads(tenant)}) == 5
        written = sum(
            len(body.points) for done, name, body in server.requests if done == "upsert" and name == NEW
        )
        assert written == 15  # three pages of five, each written once
        mover = index_of(tenant).mover
        (one,) = await mover.old.look()
        assert (await mover.move(one)).copied == 5
        assert len(await payloads(tenant)) == 20
        assert {hit.document_id for hit in await tenant.find("alpha", limit=100)} == set(wanted)


async def test_the_commands_show_and_move_what_is_left(database: Database, penstock: CommandLine) -> None:
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        await put_old(tenant, "alpha", "beta")
        there = penstock.with_variables(PENSTOCK_INDEX="qdrant", PENSTOCK_QDRANT_URL=url)

        async def asked(*words: str, code: int = 0) -> Any:
            result = await asyncio.to_thread(there, *words)
            assert result.code == code, result.err
            return json.loads(result.out)

        assert (await asked("index", "status", "--json"))["old"] == [old_name(tenant)]
        # The project's embedder is one that only this test has.
        checks = {check["check"]: check for check in (await asked("doctor", "--json", code=4))["checks"]}
        assert {name for name, check in checks.items() if check["status"] == "fail"} == {"model"}
        assert checks["vectors"]["status"] == "warn"
        assert "penstock index move" in checks["vectors"]["remedy"]
        assert (await asked("index", "move", "--dry-run", "--json"))["count"] == 1
        assert len(server.shards) == 1
        moved = await asked("index", "move", "--json")
        assert moved["moved"] == [{"collection": old_name(tenant), "copied": 2, "left_out": 0}]
        status = await asked("index", "status", "--json")
        assert status["old"] == []
        assert status["collections"] == [{"model": "words-64", "collection": NEW, "points": 2}]
        server.delete(NEW)
        checks = {check["check"]: check for check in (await asked("doctor", "--json", code=4))["checks"]}
        assert checks["vectors"]["status"] == "fail"
        assert "was deleted" in checks["vectors"]["message"]


async def test_two_movers_at_once_move_each_point_once(database: Database) -> None:
    async with (
        simulated() as (_, url),
        qdrant_tenant(database, url) as tenant,
        qdrant_index(database, url) as second,
    ):
        wanted = [await put_old(tenant, f"alpha {number}") for number in range(5)]
        (one,) = await index_of(tenant).mover.old.look()
        await asyncio.gather(index_of(tenant).mover.move(one), second.mover.move(one))
        assert len(await payloads(tenant)) == 5
        assert await names(tenant) == [NEW]
        await assert_found(tenant, wanted)


async def test_a_new_collection_is_noted_once_by_those_that_find_it_at_the_same_time(
    database: Database,
) -> None:
    noting = """do $$ begin
      for n in 1..3000 loop
        perform ingest.note_collection('model-' || n, 'collection-' || n, 3);
        commit;
      end loop;
    end $$"""
    async with database.connect() as first, database.connect() as second:
        await asyncio.gather(first.execute(noting), second.execute(noting))
        assert await first.fetchval("select count(*) from internal.vector_collection") == 3_000


def test_names_of_both_layouts_are_told_apart() -> None:
    from penstock.index.qdrant_old_layout import old_ones
    from penstock.index.qdrant_points import collection_of

    tricky = ["a" * 32, f"{'a' * 32}_{'b' * 32}_{'c' * 8}", "openai:text-embedding-3-small", "", "_" * 80]
    assert old_ones(collection_of(model) for model in tricky) == []
    assert len({collection_of(model) for model in tricky}) == len(tricky)
    assert len(old_ones([f"penstock_{'a' * 32}_{'b' * 32}_{'c' * 8}"])) == 1
