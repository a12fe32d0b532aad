"""Moves points from the old layout, a collection per tenant, project and model, into the model's collection.

It can be stopped at any point and started again: ids are computed from the chunk, so a point is written once,
and what is there already is not written again. A collection of the old layout is dropped when every point in
it whose chunk Postgres still has is in the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from uuid import UUID

from qdrant_client import models

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable
from penstock.index.qdrant_points import DENSE, collection_of, of_document, of_projects, point_id
from penstock.index.qdrant_requests import CollectionGone, ask
from penstock.index.tenant_points import TenantPoints
from penstock.model import TenantId

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

    from penstock.index.qdrant_collections import Collections
    from penstock.index.qdrant_old_layout import OldCollection, OldLayout

PAGE: Final = 200
PASSES: Final = 5
TEXTS: Final = ("contentPreview", "sectionTitle")
"""No text is stored in Qdrant any more."""

COUNTS: Final = "select document_id, generation, model from ingest.chunk_counts($1, $2)"

Generation: TypeAlias = tuple[UUID, int]


@dataclass(frozen=True, slots=True)
class MovedPoints:
    copied: int
    """Points written by this run."""
    left_out: int
    """Points of deleted documents and generations, which went with the collection."""


@dataclass(frozen=True, slots=True)
class QdrantMove:
    client: AsyncQdrantClient
    tenants: TenantPool
    collections: Collections
    old: OldLayout

    async def move(self, one: OldCollection, progress: Callable[[int], None] = lambda _: None) -> MovedPoints:
        """Copy, compare, drop; `progress` gets the number of points looked at, page by page."""
        copied = 0
        try:
            for _ in range(PASSES):
                written, left_out = await self._copy(one, progress)
                copied += written
                if written == 0:  # the pass found everything in its new place
                    break
            else:
                raise IndexUnavailable(
                    "Qdrant",
                    f"{one.name} still gets new points",
                    "Stop the workers of the previous version, then run penstock index move again",
                )
            await self._remove_orphans(one)
            await ask(lambda: self.client.delete_collection(one.name))
        except CollectionGone:
            if await ask(lambda: self.client.collection_exists(one.name)):
                raise
            left_out = 0  # another process has moved and dropped it
        self.old.forget(one)
        return MovedPoints(copied, left_out)

    async def _copy(self, one: OldCollection, progress: Callable[[int], None]) -> tuple[int, int]:
        written = left_out = 0
        async for page in self.old.points(one).pages(size=PAGE, vectors=True):
            models_of = await self._models(one, {_generation(record) for record in page})
            wanted = [record for record in page if _generation(record) in models_of]
            left_out += len(page) - len(wanted)
            for model in sorted(set(models_of.values())):
                those = [record for record in wanted if models_of[_generation(record)] == model]
                written += await self._put(one, model, those)
            progress(len(page))
        return written, left_out

    async def _put(self, one: OldCollection, model: str, records: Sequence[models.Record]) -> int:
        points = {point.id: point for point in (_moved(one, record) for record in records)}
        if not points:
            return 0
        collection = await self.collections.ready(model, _dimensions(records[0]))
        new = TenantPoints(self.client, collection, one.tenant_id)
        there = await new.present(list(points))
        missing = [point for known, point in points.items() if known not in there]
        if not missing:
            return 0
        await new.put(missing)
        # A document that was erased since its page was read must not come back.
        await self._remove_gone(one, new, {_generation(point) for point in missing})
        return len(missing)

    async def _models(self, one: OldCollection, wanted: set[Generation]) -> dict[Generation, str]:
        """The model of each generation that Postgres still has."""
        documents, generations = zip(*wanted, strict=True)
        async with self.tenants.transaction(TenantId(one.tenant_id)) as connection:
            rows = await connection.fetch(COUNTS, documents, generations)
        return {
            (row["document_id"], row["generation"]): row["model"] for row in rows if one.is_of(row["model"])
        }

    async def _remove_gone(self, one: OldCollection, new: TenantPoints, written: set[Generation]) -> None:
        for document_id, generation in written - (await self._models(one, written)).keys():
            await new.delete(of_document(document_id, [generation]))

    async def _remove_orphans(self, one: OldCollection) -> None:
        """Points that a run which was killed wrote after their document had been erased."""
        async with self.tenants.all_tenants() as connection:
            rows = await connection.fetch("select model from search.vector_collections()")
        for model in (row["model"] for row in rows if one.is_of(row["model"])):
            new = TenantPoints(self.client, collection_of(model), one.tenant_id)
            async for page in new.pages([of_projects([one.project_id])]):
                await self._remove_gone(one, new, {_generation(record) for record in page})


def _generation(point: models.Record | models.PointStruct) -> Generation:
    payload: dict[str, Any] = point.payload or {}
    return UUID(payload["documentId"]), int(payload["generation"])


def _moved(one: OldCollection, record: models.Record) -> models.PointStruct:
    payload = {key: value for key, value in (record.payload or {}).items() if key not in TEXTS}
    document_id, generation = _generation(record)
    # What a point is read with is what it is written with; the client names the two types differently.
    vector = cast("Any", record.vector)
    return models.PointStruct(
        id=point_id(one.tenant_id, document_id, generation, payload["chunkIndex"]),
        vector=vector,
        payload=payload,
    )


def _dimensions(record: models.Record) -> int:
    assert isinstance(record.vector, dict)
    return len(cast("list[float]", record.vector[DENSE]))
