"""The index with vectors in Qdrant, in one collection per model; rows stay in Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Self
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable, SettingInvalid
from penstock.index.chunk_rows import BATCH, drop_rows, erase_rows, stage_rows
from penstock.index.counts import maintain_counts
from penstock.index.opening import is_server
from penstock.index.protocol import Gathered, IndexQuery
from penstock.model import Chunk, DocumentId, ProjectId, TenantId, Vector
from penstock.observe import get_logger

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models

try:
    from penstock.index.qdrant_collections import Collections
    from penstock.index.qdrant_move import QdrantMove
    from penstock.index.qdrant_old_layout import OldLayout
    from penstock.index.qdrant_points import of_document, point_of
    from penstock.index.qdrant_requests import CollectionGone, ask, open_client
    from penstock.index.qdrant_search import COLLECTIONS, QdrantSearch
    from penstock.index.tenant_points import TenantPoints
except ImportError as missing:
    raise SettingInvalid(
        "PENSTOCK_INDEX", "qdrant needs its client; install it: pip install 'penstock[qdrant]'"
    ) from missing

log = get_logger(__name__)

SECONDS = 30.0
SWEEP_STEP = 100
IS_DELETED = "select accounts.show_tenant() ->> 'status' = 'deleted'"
SWEEP = "select all_tenants.sweep_generations(1, $1, $2)"
WEIGHTS = "select * from ingest.chunk_weights($1, $2, $3)"
COUNTS = "select 1 from ingest.chunk_counts($1, $2)"


class QdrantIndex:
    """Writes a new generation; once the document's row points to it, the old one is marked, then deleted."""

    def __init__(self, client: AsyncQdrantClient, tenants: TenantPool, *, is_local: bool) -> None:
        self._client = client
        self._tenants = tenants
        self._collections = Collections(client, tenants, is_local, {})
        self._old = OldLayout(client)

    @classmethod
    def open(
        cls, address: str, api_key: str | None, tenants: TenantPool, *, seconds: float = SECONDS
    ) -> Self:
        """A server's address, or a folder for the client's local mode (one process, small collections)."""
        return cls(open_client(address, api_key, seconds), tenants, is_local=not is_server(address))

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
        title: str | None = None,
        language: str | None = None,
    ) -> None:
        for start in range(0, len(chunks), BATCH):
            batch = chunks[start : start + BATCH]
            await stage_rows(
                self._tenants, tenant_id, document_id, generation, batch, model, None, title, language
            )
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
            collection = await self._put(tenant_id, model, len(vectors[0]) // 2, points)
            await self._take_back(tenant_id, document_id, generation, collection)

    async def retire(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        """Mark generations that are no longer live; searches already exclude them by the document's row."""
        payload: dict[str, object] = {"isDeleted": True, "deletedAt": datetime.now(UTC).isoformat()}
        for points in await self._points(tenant_id):
            try:
                await points.mark(payload, of_document(document_id, generations))
            except CollectionGone:
                continue

    async def drop(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        await drop_rows(self._tenants, tenant_id, document_id, generations)
        await self._delete(tenant_id, of_document(document_id, generations))

    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        await erase_rows(self._tenants, tenant_id, document_id)
        async with self._tenants.transaction(tenant_id) as connection:
            is_deleted = await connection.fetchval(IS_DELETED)
        await self._delete(tenant_id, [] if is_deleted else of_document(document_id))
        if is_deleted:
            await self._drop_old(tenant_id)

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
        return await QdrantSearch(self._client, self._tenants, self._old, tenant_id, query).gather()

    @property
    def mover(self) -> QdrantMove:
        """What moves points of the old layout here."""
        return QdrantMove(self._client, self._tenants, self._collections, self._old)

    async def close(self) -> None:
        await self._client.close()

    async def _put(
        self, tenant_id: UUID, model: str, dimensions: int, points: Sequence[models.PointStruct]
    ) -> str:
        """Write them into the model's collection; one that was deleted behind our back is created again."""
        collection = await self._collections.ready(model, dimensions)
        try:
            await TenantPoints(self._client, collection, tenant_id).put(points)
        except CollectionGone:
            log.warning(
                "collection_lost", collection=collection, remedy="penstock doctor says what is missing"
            )
            self._collections.forget(collection)
            await self._collections.ready(model, dimensions)
            await TenantPoints(self._client, collection, tenant_id).put(points)
        return collection

    async def _take_back(
        self, tenant_id: TenantId, document_id: DocumentId, generation: int, collection: str
    ) -> None:
        """Delete what was just written if its rows were deleted in the meantime, or nobody ever would."""
        async with self._tenants.transaction(tenant_id) as connection:
            if await connection.fetchval(COUNTS, [document_id], [generation]):
                return
        points = TenantPoints(self._client, collection, tenant_id)
        await points.delete(of_document(document_id, [generation]))

    async def _points(self, tenant_id: UUID) -> list[TenantPoints]:
        """This tenant's points in every collection that may have some."""
        async with self._tenants.all_tenants() as connection:
            rows = await connection.fetch(COLLECTIONS)
        names = [row["collection"] for row in rows]
        names += [left.name for left in await self._old.of(tenant_id)]
        return [TenantPoints(self._client, name, tenant_id) for name in names]

    async def _weights(
        self, tenant_id: TenantId, document_id: DocumentId, generation: int, chunks: Sequence[Chunk]
    ) -> dict[int, dict[str, float]]:
        async with self._tenants.transaction(tenant_id) as connection:
            rows = await connection.fetch(
                WEIGHTS, document_id, generation, [chunk.ordinal for chunk in chunks]
            )
        return {row["ordinal"]: dict(zip(row["lexemes"], row["weights"], strict=True)) for row in rows}

    async def _delete(self, tenant_id: TenantId, within: Sequence[models.Condition]) -> None:
        """Delete the tenant's points and count what is left: an erasure is only done when nothing is."""
        for points in await self._points(tenant_id):
            try:
                left = await points.delete(within)
            except CollectionGone:
                continue
            if left:
                raise IndexUnavailable(
                    "Qdrant",
                    f"{left} points are still in {points.collection} after they were deleted",
                    "It is tried again; if it stays so, look at the state of that collection in Qdrant",
                )

    async def _drop_old(self, tenant_id: TenantId) -> None:
        """A deleted tenant's own collections hold nothing any more."""
        for left in await self._old.of(tenant_id):
            await ask(partial(self._client.delete_collection, left.name))
            self._old.forget(left)

    async def _due(self, *, marked: bool) -> list[tuple[TenantId, DocumentId, int]]:
        async with self._tenants.all_tenants() as connection:
            rows = await connection.fetch("select * from all_tenants.due_sweeps($1, $2)", marked, SWEEP_STEP)
        return [
            (TenantId(row["tenant_id"]), DocumentId(row["document_id"]), row["generation"]) for row in rows
        ]
