"""The index with vectors in Qdrant, in a collection per tenant and project; rows stay in Postgres."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable, SettingInvalid
from penstock.index.chunk_rows import BATCH, drop_rows, erase_rows, stage_rows
from penstock.index.counts import maintain_counts
from penstock.index.opening import is_server
from penstock.index.protocol import Gathered, Hit, IndexQuery, hits_as_json
from penstock.index.vectors import as_floats
from penstock.model import Chunk, DocumentId, ProjectId, TenantId, Vector

try:
    from qdrant_client import AsyncQdrantClient, models
    from qdrant_client.http.exceptions import ApiException

    from penstock.index.qdrant_points import (
        DENSE,
        SPARSE,
        collection_of,
        of_document,
        point_of,
        searchable,
        sparse_of,
        tenant_prefix,
    )
except ImportError as missing:
    raise SettingInvalid(
        "PENSTOCK_INDEX", "qdrant needs its client; install it: pip install 'penstock[qdrant]'"
    ) from missing

UPSERT = 100
SWEEP_STEP = 100
MOST_HITS = 10_000
"""How many hits a search examines for live ones that pass the filter."""

IS_DELETED = "select accounts.show_tenant() ->> 'status' = 'deleted'"
CANDIDATES = "select document_ids from search.candidate_documents($1)"
SWEEP = "select all_tenants.sweep_generations(1, $1, $2)"
TERMS = "select lexeme from search.query_terms($1)"
WEIGHTS = "select * from ingest.chunk_weights($1, $2, $3)"
LIVE = "select document_id, generation, ordinal from search.live_hits($1, $2)"
PAYLOAD_INDEXES = {
    "documentId": models.PayloadSchemaType.KEYWORD,
    "generation": models.PayloadSchemaType.INTEGER,
    "isDeleted": models.PayloadSchemaType.BOOL,
}


class QdrantIndex:
    """Writes a new generation; once the document's row points to it, the old one is marked, then deleted."""

    def __init__(self, client: AsyncQdrantClient, tenants: TenantPool, *, is_local: bool) -> None:
        self._client = client
        self._tenants = tenants
        self._is_local = is_local
        self._known: set[str] = set()

    @classmethod
    def open(cls, address: str, api_key: str | None, tenants: TenantPool) -> Self:
        """A server's address, or a folder for the client's local mode (one process, small collections)."""
        return cls(_client(address, api_key), tenants, is_local=not is_server(address))

    @property
    def is_in_database(self) -> bool:
        return False

    async def require(self) -> None:
        """Nothing is required: collections are created with the first vector."""

    async def stage(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        document_id: DocumentId,
        generation: int,
        chunks: Sequence[Chunk],
        vectors: Sequence[Vector],
        model: str,
    ) -> None:
        if not chunks:
            return
        collection = await self._collection(tenant_id, project_id, model, len(vectors[0]) // 2)
        for start in range(0, len(chunks), BATCH):
            batch = chunks[start : start + BATCH]
            await stage_rows(self._tenants, tenant_id, document_id, generation, batch, model, None)
            weights = await self._weights(tenant_id, document_id, generation, batch)
            points = [
                point_of(
                    tenant_id,
                    project_id,
                    document_id,
                    generation,
                    chunk,
                    vector,
                    weights.get(chunk.ordinal, {}),
                )
                for chunk, vector in zip(batch, vectors[start : start + BATCH], strict=True)
            ]
            async with self._answering():
                for first in range(0, len(points), UPSERT):
                    await self._client.upsert(collection, points[first : first + UPSERT], wait=True)

    async def retire(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        """Mark generations that are no longer live; searches already exclude them by the document's row."""
        payload = {"isDeleted": True, "deletedAt": datetime.now(UTC).isoformat()}
        async with self._answering():
            for collection in await self._collections(tenant_id):
                await self._client.set_payload(
                    collection, payload, points=of_document(document_id, generations), wait=True
                )

    async def drop(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        await drop_rows(self._tenants, tenant_id, document_id, generations)
        await self._delete(tenant_id, of_document(document_id, generations))

    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        await erase_rows(self._tenants, tenant_id, document_id)
        await self._delete(tenant_id, of_document(document_id))
        async with self._tenants.transaction(tenant_id) as connection:
            is_deleted = await connection.fetchval(IS_DELETED)
        if is_deleted:
            await self._drop_empty(tenant_id)

    async def maintain(self) -> None:
        for tenant_id, document_id, generation in await self._due(marked=False):
            await self.retire(tenant_id, document_id, [generation])
            async with self._tenants.all_tenants() as connection:
                await connection.execute(
                    "select all_tenants.note_marked($1, $2)", [document_id], [generation]
                )
        for tenant_id, document_id, generation in await self._due(marked=True):
            await self._delete(tenant_id, of_document(document_id, [generation]))
            async with self._tenants.all_tenants() as connection:
                await connection.execute(SWEEP, [document_id], [generation])
        await maintain_counts(self._tenants)

    async def gather(self, tenant_id: TenantId, query: IndexQuery) -> Gathered:
        async with self._tenants.transaction(tenant_id) as connection:
            documents = await connection.fetchval(CANDIDATES, query.filter)
            lexemes = await connection.fetch(TERMS, query.text or "")
        if documents == []:
            return Gathered([], [])
        there = await self._collections(tenant_id)
        look = _CollectionSearch(self._client, self._tenants, tenant_id, query, documents)
        near: list[Hit] = []
        matched: list[Hit] = []
        async with self._answering():
            for probe in query.probes:
                wanted = {
                    collection_of(tenant_id, project_id, probe.model) for project_id in query.project_ids
                }
                for collection in there & wanted:
                    near += await look.hits(collection, as_floats(probe.vector), DENSE, probe.model)
            if lexemes:
                sparse = sparse_of({row["lexeme"]: 1.0 for row in lexemes})
                projects = tuple(
                    f"{tenant_prefix(tenant_id)}{project_id.hex}_" for project_id in query.project_ids
                )
                for collection in there:
                    if collection.startswith(projects):
                        matched += await look.hits(collection, sparse, SPARSE, "")
        return Gathered(near, matched)

    async def close(self) -> None:
        await self._client.close()

    async def _collection(self, tenant_id: UUID, project_id: UUID, model: str, dimensions: int) -> str:
        name = collection_of(tenant_id, project_id, model)
        if name in self._known:
            return name
        async with self._answering():
            if not await self._client.collection_exists(name):
                try:
                    await self._client.create_collection(
                        name,
                        vectors_config={
                            DENSE: models.VectorParams(size=dimensions, distance=models.Distance.DOT)
                        },
                        sparse_vectors_config={
                            SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)
                        },
                    )
                except (ApiException, ValueError):
                    # Another worker created it; any other problem shows up right below.
                    if not await self._client.collection_exists(name):
                        raise
            if not self._is_local:  # the local mode has no indexes
                for field, kind in PAYLOAD_INDEXES.items():
                    await self._client.create_payload_index(name, field, kind, wait=True)
        self._known.add(name)
        return name

    async def _collections(self, tenant_id: UUID) -> set[str]:
        async with self._answering():
            answer = await self._client.get_collections()
        prefix = tenant_prefix(tenant_id)
        return {found.name for found in answer.collections if found.name.startswith(prefix)}

    async def _weights(
        self, tenant_id: TenantId, document_id: DocumentId, generation: int, chunks: Sequence[Chunk]
    ) -> dict[int, dict[str, float]]:
        async with self._tenants.transaction(tenant_id) as connection:
            rows = await connection.fetch(
                WEIGHTS, document_id, generation, [chunk.ordinal for chunk in chunks]
            )
        return {row["ordinal"]: dict(zip(row["lexemes"], row["weights"], strict=True)) for row in rows}

    async def _delete(self, tenant_id: TenantId, points: models.Filter) -> None:
        for collection in await self._collections(tenant_id):
            async with self._answering(), self._unless_gone(collection):
                await self._client.delete(collection, models.FilterSelector(filter=points), wait=True)

    async def _drop_empty(self, tenant_id: TenantId) -> None:
        """A deleted tenant gets no new points, and deleted points may leave bytes behind."""
        for collection in await self._collections(tenant_id):
            async with self._answering(), self._unless_gone(collection):
                if (await self._client.count(collection, exact=True)).count == 0:
                    self._known.discard(collection)
                    await self._client.delete_collection(collection)

    async def _due(self, *, marked: bool) -> list[tuple[TenantId, DocumentId, int]]:
        async with self._tenants.all_tenants() as connection:
            rows = await connection.fetch("select * from all_tenants.due_sweeps($1, $2)", marked, SWEEP_STEP)
        return [
            (TenantId(row["tenant_id"]), DocumentId(row["document_id"]), row["generation"]) for row in rows
        ]

    @asynccontextmanager
    async def _unless_gone(self, collection: str) -> AsyncIterator[None]:
        """Ignore a collection that was dropped in the meantime."""
        try:
            yield
        except (ApiException, ValueError):
            if await self._client.collection_exists(collection):
                raise

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            yield
        except ApiException as error:
            raise IndexUnavailable("Qdrant", str(error)) from error


async def ask_version(address: str, api_key: str | None) -> str:
    """The server's version; raises IndexUnavailable, or SettingInvalid for a folder that is in use."""
    client = _client(address, api_key)
    try:
        if not is_server(address):
            return "in a folder"
        await client.get_collections()  # needs the key, which info does not
        return (await client.info()).version
    except ApiException as error:
        raise IndexUnavailable("Qdrant", str(error)) from error
    finally:
        await client.close()


def _client(address: str, api_key: str | None) -> AsyncQdrantClient:
    if is_server(address):
        return AsyncQdrantClient(url=address, api_key=api_key, check_compatibility=False)
    if address == ":memory:":
        return AsyncQdrantClient(location=address)
    try:
        return AsyncQdrantClient(path=str(Path(address)))
    except RuntimeError as error:
        if "already accessed" not in str(error):
            raise
        raise SettingInvalid(
            "PENSTOCK_QDRANT_URL",
            f"another process uses the folder {address}, and only one can at a time. Stop it, or run a Qdrant"
            " server and set its address (http://…)",
        ) from error


@dataclass(frozen=True, slots=True)
class _CollectionSearch:
    """One search over the collections of a tenant."""

    client: AsyncQdrantClient
    tenants: TenantPool
    tenant_id: TenantId
    query: IndexQuery
    documents: Sequence[UUID] | None

    async def hits(
        self, collection: str, vector: list[float] | models.SparseVector, using: str, model: str
    ) -> list[Hit]:
        """The best live hits that pass the filter; searches deeper while stale ones take up places."""
        limit = self.query.depth
        while True:
            answer = await self.client.query_points(
                collection,
                query=vector,
                using=using,
                limit=limit,
                query_filter=searchable(self.documents),
                with_payload=["documentId", "generation", "chunkIndex"],
            )
            found = [_hit(point, model) for point in answer.points]
            live = await self._live(found)
            if len(live) >= self.query.depth or len(found) < limit or limit >= MOST_HITS:
                return live[: self.query.depth]
            limit = min(4 * limit, MOST_HITS)

    async def _live(self, hits: Sequence[Hit]) -> list[Hit]:
        async with self.tenants.transaction(self.tenant_id) as connection:
            rows = await connection.fetch(LIVE, hits_as_json(hits), self.query.filter)
        live = {(row["document_id"], row["generation"], row["ordinal"]) for row in rows}
        return [hit for hit in hits if (hit.document_id, hit.generation, hit.ordinal) in live]


def _hit(point: models.ScoredPoint, model: str) -> Hit:
    payload: Mapping[str, Any] = point.payload or {}
    return Hit(UUID(payload["documentId"]), payload["generation"], payload["chunkIndex"], model, point.score)
