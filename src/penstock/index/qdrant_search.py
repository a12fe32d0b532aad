"""One search of one tenant in Qdrant: by vector and by words, only live hits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable
from penstock.index.protocol import Gathered, Hit, IndexQuery, hits_as_json
from penstock.index.qdrant_old_layout import OldLayout
from penstock.index.qdrant_points import DENSE, SPARSE, not_deleted, of_documents, of_projects, sparse_of
from penstock.index.qdrant_requests import CollectionGone
from penstock.index.tenant_points import TenantPoints
from penstock.index.vectors import as_floats
from penstock.model import TenantId

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models

MOST_HITS = 10_000
"""How many hits a search examines for live ones that pass the filter."""

CANDIDATES = "select document_ids from search.candidate_documents($1)"
TERMS = "select lexeme, idf from search.query_terms($1)"
COLLECTIONS = "select model, collection from search.vector_collections()"
LIVE = "select document_id, generation, ordinal from search.live_hits($1, $2)"
USES = "select search.uses_model($1)"


@dataclass(frozen=True, slots=True)
class QdrantSearch:
    client: AsyncQdrantClient
    tenants: TenantPool
    old: OldLayout
    tenant_id: TenantId
    query: IndexQuery

    async def gather(self) -> Gathered:
        """While a tenant still has collections of the old layout, Postgres searches its words."""
        async with self.tenants.transaction(self.tenant_id) as connection:
            documents = await connection.fetchval(CANDIDATES, self.query.filter)
            terms = {
                row["lexeme"]: row["idf"] for row in await connection.fetch(TERMS, self.query.text or "")
            }
            collections = {row["model"]: row["collection"] for row in await connection.fetch(COLLECTIONS)}
        if documents == [] or not self.query.project_ids:
            return Gathered([], [])
        within = self._conditions(documents)
        # The old ones first: what is moved away from there in the meantime is in the new ones then.
        before = await self._old_hits(within)
        near = asyncio.gather(
            *(
                self._hits(probe.model, collections[probe.model], as_floats(probe.vector), DENSE, within)
                for probe in self.query.probes
                if probe.model in collections
            )
        )
        if before is not None:
            return Gathered(_joined([*before, *_flat(await near)]), None)
        words = sparse_of(terms)
        matched = asyncio.gather(
            *(
                self._hits(model, collection, words, SPARSE, within)
                for model, collection in collections.items()
                if terms
            )
        )
        return Gathered(_flat(await near), _flat(await matched))

    def _conditions(self, documents: Sequence[UUID] | None) -> list[models.Condition]:
        """Not marked as deleted, of these projects and, if a filter leaves few documents, of these."""
        conditions: list[models.Condition] = [not_deleted(), of_projects(self.query.project_ids)]
        if documents is not None:
            conditions.append(of_documents(documents))
        return conditions

    async def _old_hits(self, within: Sequence[models.Condition]) -> list[Hit] | None:
        """Hits by vector in collections that were not moved yet; None: there are none."""
        left = [one for one in await self.old.of(self.tenant_id) if one.project_id in self.query.project_ids]
        if not left:
            return None
        found: list[Hit] = []
        for probe in self.query.probes:
            for collection in left:
                if not collection.is_of(probe.model):
                    continue
                try:
                    found += await self._live_hits(
                        self.old.points(collection), as_floats(probe.vector), DENSE, probe.model, within
                    )
                except CollectionGone:
                    self.old.forget(collection)
        return found

    async def _hits(
        self,
        model: str,
        collection: str,
        vector: list[float] | models.SparseVector,
        using: str,
        within: Sequence[models.Condition],
    ) -> list[Hit]:
        points = TenantPoints(self.client, collection, self.tenant_id)
        try:
            return await self._live_hits(points, vector, using, model if using == DENSE else "", within)
        except CollectionGone as gone:
            async with self.tenants.transaction(self.tenant_id) as connection:
                if not await connection.fetchval(USES, model):
                    return []
            raise IndexUnavailable(
                "Qdrant",
                f"the collection {collection} with the vectors of {model} was deleted",
                "Restore it from a snapshot, or index the documents again: penstock project reindex",
            ) from gone

    async def _live_hits(
        self,
        points: TenantPoints,
        vector: list[float] | models.SparseVector,
        using: str,
        model: str,
        within: Sequence[models.Condition],
    ) -> list[Hit]:
        """The best live hits that pass the filter; searches deeper while stale ones take up places."""
        limit = self.query.depth
        while True:
            found = [_hit(point, model) for point in await points.nearest(vector, using, within, limit)]
            live = await self._live(found)
            if len(live) >= self.query.depth or len(found) < limit or limit >= MOST_HITS:
                return live[: self.query.depth]
            limit = min(4 * limit, MOST_HITS)

    async def _live(self, hits: Sequence[Hit]) -> list[Hit]:
        if not hits:
            return []
        async with self.tenants.transaction(self.tenant_id) as connection:
            rows = await connection.fetch(LIVE, hits_as_json(hits), self.query.filter)
        live = {(row["document_id"], row["generation"], row["ordinal"]) for row in rows}
        return [hit for hit in hits if (hit.document_id, hit.generation, hit.ordinal) in live]


def _hit(point: models.ScoredPoint, model: str) -> Hit:
    payload: Mapping[str, Any] = point.payload or {}
    return Hit(UUID(payload["documentId"]), payload["generation"], payload["chunkIndex"], model, point.score)


def _flat(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    return [hit for hits in lists for hit in hits]


def _joined(hits: Sequence[Hit]) -> list[Hit]:
    """Each chunk once: while it is moved, it is in both collections."""
    once = {(hit.document_id, hit.generation, hit.ordinal, hit.model): hit for hit in hits}
    return list(once.values())
