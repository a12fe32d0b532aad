"""Seed 004's table of retries, row by row, with vectors in Qdrant over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from penstock.documents.rows import Document, Taken
from penstock.errors import IndexUnavailable
from penstock.model import uuid7
from penstock.pipeline.parser_pool import ParserPool
from penstock.pipeline.reasons import Reason, rejected
from penstock.search import SearchQuery
from penstock.simulators import EmbeddingsSimulator, Fault, busy, serving
from penstock.simulators.embeddings import KEY
from tests.integration.qdrant_tenants import client, names, payloads, qdrant_index, qdrant_tenant, simulated
from tests.plugins.busy import stretched
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually
from tests.sql.indexed_tenant import indexed_tenant

if TYPE_CHECKING:
    from penstock.simulators.qdrant import QdrantSimulator

NOTE = "The sluice was opened at noon. The wheel began to turn."


@asynccontextmanager
async def working(
    database: Database, folder: Path, **settings: Any
) -> AsyncIterator[tuple[Works, QdrantSimulator]]:
    async with simulated() as (server, url):
        settings = {"index": "qdrant", "qdrant_url": url, **settings}
        async with works_on(database, folder, **settings) as works, works.working():
            yield works, server


async def ended(works: Works, taken: Taken) -> Document:
    """The document once it is indexed or has failed; its next attempt is made due at once."""

    async with works.database.connect("admin") as admin, works.database.connect("operator") as operator:

        async def has_ended() -> bool:
            await admin.execute("update internal.embedder_outage set retry_at = now()")
            await operator.execute("select queues.run_now($1)", taken.task_id)
            shown = await works.engine.documents.show(works.tenant_id, taken.document_id)
            return shown.status in ("indexed", "failed")

        await eventually(has_ended, within=60, every=0.3)
    return await works.engine.documents.show(works.tenant_id, taken.document_id)


async def attempts(works: Works, taken: Taken) -> list[tuple[int, str]]:
    async with works.database.connect("admin") as admin:
        rows = await admin.fetch(
            "select attempt_number, outcome::text from queues.attempt"
            " where task_id = $1 and outcome <> 'snoozed' order by attempt_number",
            taken.task_id,
        )
    return [(row["attempt_number"], row["outcome"]) for row in rows]


def stored(server: QdrantSimulator) -> int:
    return sum(shard.shard.info().points_count for shard in server.shards.values())


@pytest.mark.parametrize("fault", [busy("1"), Fault("status", 503)], ids=["429", "5xx"])
async def test_an_embedder_that_is_busy_or_broken_is_tried_again(
    database: Database, tmp_path: Path, fault: Fault
) -> None:
    """Rows "Cohere API 429" and "500+": tried again; here they wait without using one of the attempts."""
    embeddings = EmbeddingsSimulator()
    embeddings.faults.add(fault, 2)
    async with serving(embeddings.app) as url:
        cohere = {"embedder": "cohere:embed-v4.0", "cohere_base_url": url, "cohere_api_key": KEY}
        async with working(database, tmp_path, **cohere) as (works, server):
            taken = await works.hand_in(NOTE)
            assert (await ended(works, taken)).status == "indexed"
            assert await attempts(works, taken) == [(1, "completed")]
            assert stored(server) == 1


FAULTS = {
    "500": Fault("status", 500),
    "507": Fault("status", 507, message="disk full"),
    "cut": Fault("disconnect"),
    "time-out": Fault("slow", seconds=3.0),
    "not JSON": Fault("not_json"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_qdrant_that_fails_is_tried_three_times(
    database: Database, tmp_path: Path, name: str
) -> None:
    """Row "Qdrant connection error": three attempts."""
    # On a busy machine a call that is not slowed down must not take too long, too.
    patience = stretched(1.0)
    fault = Fault("slow", seconds=3 * patience) if name == "time-out" else FAULTS[name]
    async with working(database, tmp_path, qdrant_timeout_seconds=patience) as (works, server):
        server.faults_of["upsert"].add(fault, 2)
        taken = await works.hand_in(NOTE)
        assert (await ended(works, taken)).status == "indexed"
        assert await attempts(works, taken) == [(1, "failed"), (2, "failed"), (3, "completed")]
        assert stored(server) == 1
        assert [hit.document_id for hit in await works.find("sluice")] == [taken.document_id]


async def test_after_three_attempts_the_document_has_failed_and_says_why_and_can_be_retried(
    database: Database, tmp_path: Path
) -> None:
    async with working(database, tmp_path) as (works, server):
        server.faults_of["upsert"].begin_outage(Fault("status", 507))
        taken = await works.hand_in(NOTE)
        document = await ended(works, taken)
        assert document.status == "failed"
        assert "it answered 507" in (document.error_message or "")
        assert "disk or memory is full" in (document.error_message or "")
        assert [number for number, _ in await attempts(works, taken)] == [1, 2, 3]
        server.faults_of["upsert"].clear()
        await works.engine.documents.retry(works.tenant_id, taken.document_id)
        assert (await works.settled(taken.document_id)).status == "indexed"
        assert stored(server) == 1


async def test_attempts_are_further_apart_each_time(database: Database, tmp_path: Path) -> None:
    """Row "Qdrant connection error": exponential, about 1 s and 4 s, three attempts."""
    async with working(database, tmp_path) as (works, _):
        code = IndexUnavailable.__name__
        delays = [
            await works.value(
                "select queues.retry_delay(t, $1, $2) from queues.task_type t where task_type = $3",
                code,
                failures,
                "ingest-document",
            )
            for failures in (1, 2, 3)
        ]
        assert 1 <= delays[0] <= 1.5
        assert 4 <= delays[1] <= 6
        assert delays[2] is None


async def test_a_busy_qdrant_is_waited_for_within_the_attempt(database: Database, tmp_path: Path) -> None:
    """429 with and without Retry-After."""
    async with working(database, tmp_path) as (works, server):
        server.faults_of["upsert"].add(busy("1"))
        server.faults_of["upsert"].add(busy())
        server.faults_of["look"].add(busy("1"))
        taken = await works.hand_in(NOTE)
        assert (await works.settled(taken.document_id)).status == "indexed"
        assert await attempts(works, taken) == [(1, "completed")]


@pytest.mark.parametrize("wish", ["0", "-1", "Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_a_busy_server_that_names_no_seconds_is_asked_again_after_a_pause(wish: str) -> None:
    """Neither at once, again and again, nor never: a proxy in front of it may send a date."""
    from penstock.index.qdrant_requests import CollectionGone, open_client
    from penstock.index.tenant_points import TenantPoints

    async with simulated() as (server, url):
        found = open_client(url, None, 30)
        try:
            server.faults_of["count"].add(busy(wish))
            begin = monotonic()
            with pytest.raises(CollectionGone):
                await TenantPoints(found, "penstock_none", uuid7()).count()
            assert monotonic() - begin >= 1
        finally:
            await found.close()


REJECTED: dict[str, Callable[[], tuple[bytes, str, str]]] = {
    "parse error": lambda: (b"%PDF-1.7\nnot a page", "broken.pdf", "malformed"),
    "chunk error": lambda: (b" \n \n", "empty.md", "empty"),
}


@pytest.mark.parametrize("row", REJECTED)
async def test_a_document_that_cannot_be_read_is_not_tried_again(
    database: Database, tmp_path: Path, row: str
) -> None:
    """Rows "Parse error" and "Chunk error": one attempt, and nothing reaches Qdrant."""
    content, filename, code = REJECTED[row]()
    async with working(database, tmp_path) as (works, server):
        taken = await works.hand_in(content, filename)
        document = await works.settled(taken.document_id)
        assert document.status == "failed"
        assert document.reason_code in (code, "truncated", "crash")
        assert [number for number, _ in await attempts(works, taken)] == [1]
        assert stored(server) == 0


async def test_running_out_of_memory_is_not_tried_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row "Out of memory": one attempt. tests/integration/test_parse_reasons.py shows that it is raised."""

    async def full(*_: object, **__: object) -> None:
        raise rejected(Reason.OOM, "it needs more than 512 MB")

    async with working(database, tmp_path) as (works, server):
        monkeypatch.setattr(ParserPool, "parse_to", full)
        taken = await works.hand_in(NOTE)
        document = await works.settled(taken.document_id)
        assert (document.status, document.reason_code) == ("failed", "oom")
        assert [number for number, _ in await attempts(works, taken)] == [1]
        assert stored(server) == 0


async def test_a_collection_deleted_behind_our_back_is_created_again_by_the_next_write(
    database: Database,
) -> None:
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        lost = await tenant.put("alpha lost")
        (name,) = await names(tenant)
        server.delete(name)
        kept = await tenant.put("alpha kept")
        assert [payload["documentId"] for payload in await payloads(tenant)] == [str(kept)]
        assert set(server.shards[name].indexes) >= {"tenantId", "projectId", "documentId", "generation"}
        assert server.shards[name].indexes["tenantId"]["params"]["is_tenant"] is True
        assert await tenant.found("alpha", mode="vector") == [kept]
        await tenant.delete(lost)
        await tenant.index.drop_document(tenant.tenant_id, lost)


async def test_a_search_without_its_collection_says_so_and_finds_words_in_postgres(
    database: Database,
) -> None:
    async with (
        simulated() as (server, url),
        qdrant_tenant(database, url) as tenant,
        indexed_tenant(database, "other", index=tenant.index) as other,
    ):
        document_id = await tenant.put("alpha lost")
        (name,) = await names(tenant)
        server.delete(name)
        answer = await tenant.search.search(tenant.tenant_id, SearchQuery(query="alpha"))
        assert [hit.document_id for hit in answer.hits] == [document_id]
        assert answer.degraded == ("vector",)
        assert f"the collection {name}" in answer.unavailable[0].reason
        with pytest.raises(IndexUnavailable, match="penstock project reindex"):
            await tenant.find("alpha", mode="vector")
        # A tenant without chunks of that model has lost nothing.
        assert (await other.search.search(other.tenant_id, SearchQuery(query="alpha"))).degraded == ()


@pytest.mark.parametrize("name", [*FAULTS, "429"])
async def test_a_search_finds_words_in_postgres_while_qdrant_fails(database: Database, name: str) -> None:
    async with simulated() as (server, url), qdrant_tenant(database, url, seconds=1.0) as tenant:
        document_id = await tenant.put("alpha beta")
        await tenant.put("gamma")
        server.faults.begin_outage(busy("60") if name == "429" else FAULTS[name])
        answer = await tenant.search.search(tenant.tenant_id, SearchQuery(query="alpha"))
        assert [hit.document_id for hit in answer.hits] == [document_id]
        assert (answer.degraded, answer.unavailable[0].embedder) == (("vector",), "words")
        with pytest.raises(IndexUnavailable):
            await tenant.find("alpha", mode="vector")
        server.faults.clear()
        answer = await tenant.search.search(tenant.tenant_id, SearchQuery(query="alpha"))
        assert answer.degraded == ()


async def test_two_processes_that_create_a_collection_at_once_both_write(database: Database) -> None:
    async with (
        simulated() as (server, url),
        qdrant_tenant(database, url) as tenant,
        qdrant_index(database, url) as second,
        indexed_tenant(database, "other", index=second) as other,
    ):
        await asyncio.gather(tenant.put("alpha one"), other.put("alpha two"))
        assert len(server.shards) == 1
        assert len(await payloads(tenant)) == len(await payloads(other)) == 1


async def test_a_collection_of_somebody_else_is_not_written_to(database: Database) -> None:
    from qdrant_client import models

    from penstock.index.qdrant_points import DENSE, SPARSE, collection_of

    async with simulated() as (_, url), qdrant_tenant(database, url) as tenant:
        await client(tenant).create_collection(
            collection_of(tenant.words.model),
            vectors_config={DENSE: models.VectorParams(size=64, distance=models.Distance.DOT)},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        document_id = await tenant.document()
        with pytest.raises(IndexUnavailable, match="was not created by Penstock"):
            await tenant.stage(document_id, ["alpha"])


async def test_a_wrong_key_is_reported_with_the_setting_to_change(database: Database) -> None:
    async with simulated() as (server, url), qdrant_tenant(database, url) as tenant:
        server.key = "another"
        document_id = await tenant.document()
        with pytest.raises(IndexUnavailable, match="PENSTOCK_QDRANT_API_KEY"):
            await tenant.stage(document_id, ["alpha"])


async def test_the_simulator_refuses_a_field_that_qdrant_does_not_know() -> None:
    from penstock.net.outbound import open_client

    async with simulated() as (_, url), open_client(allow_private=True, total_seconds=10) as http:
        wrong = {"vectors": {"dense": {"size": 4, "distance": "Dot"}}, "colour": "blue"}
        answer = await http.put(f"{url}/collections/one", json=wrong)
        assert answer.status_code == 400
        assert "colour" in answer.json()["status"]["error"]
