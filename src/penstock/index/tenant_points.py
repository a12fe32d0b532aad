"""The points of one tenant in one collection: the only place that reads, writes or deletes points in Qdrant.

Every request gets the tenant's condition here, from `_mine()` or `_check()`: what a caller passes can narrow
it, never widen it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from qdrant_client import AsyncQdrantClient, models

from penstock.index.qdrant_points import TENANT, of_tenant
from penstock.index.qdrant_requests import PATIENCE, ask

UPSERT = 100
"""Points per request."""

PAGE = 1_000

CARE, MOST_CARE = 6, 1_000
"""How many neighbours a search by vector looks at for each that is wanted, as with pgvector
(search.nearest_indexed). By Qdrant's default, as many as are wanted, one of ten was missed among 100,000."""


@dataclass(frozen=True, slots=True)
class TenantPoints:
    client: AsyncQdrantClient
    collection: str
    tenant_id: UUID

    async def put(self, points: Sequence[models.PointStruct]) -> None:
        self._check(points)
        for first in range(0, len(points), UPSERT):
            some = list(points[first : first + UPSERT])
            sent = partial(self.client.upsert, self.collection, some, wait=True)
            await ask(sent, patience=PATIENCE)

    async def mark(self, payload: dict[str, object], within: Sequence[models.Condition]) -> None:
        """Add to the payload of these points."""
        await ask(
            lambda: self.client.set_payload(self.collection, payload, points=self._mine(within), wait=True),
            patience=PATIENCE,
        )

    async def delete(self, within: Sequence[models.Condition] = ()) -> int:
        """Delete these points, and return how many are still there: zero, unless somebody writes them."""
        chosen = models.FilterSelector(filter=self._mine(within))
        await ask(lambda: self.client.delete(self.collection, chosen, wait=True), patience=PATIENCE)
        return await self.count(within)

    async def count(self, within: Sequence[models.Condition] = ()) -> int:
        answer = await ask(
            lambda: self.client.count(self.collection, count_filter=self._mine(within), exact=True),
            patience=PATIENCE,
        )
        return answer.count

    async def nearest(
        self,
        vector: list[float] | models.SparseVector,
        using: str,
        within: Sequence[models.Condition],
        limit: int,
    ) -> list[models.ScoredPoint]:
        answer = await ask(
            lambda: self.client.query_points(
                self.collection,
                query=vector,
                using=using,
                limit=limit,
                query_filter=self._mine(within),
                search_params=_care(self.client, limit),
                with_payload=["documentId", "generation", "chunkIndex"],
            )
        )
        return answer.points

    async def present(self, ids: list[models.ExtendedPointId]) -> set[models.ExtendedPointId]:
        """Which of these points there are."""
        page, _ = await ask(
            lambda: self.client.scroll(
                self.collection,
                scroll_filter=self._mine([models.HasIdCondition(has_id=ids)]),
                limit=len(ids),
                with_payload=False,
            ),
            patience=PATIENCE,
        )
        return {record.id for record in page}

    async def pages(
        self, within: Sequence[models.Condition] = (), *, size: int = PAGE, vectors: bool = False
    ) -> AsyncIterator[list[models.Record]]:
        """All of them, a page at a time."""
        offset: models.ExtendedPointId | None = None
        while True:
            asked = partial(
                self.client.scroll,
                self.collection,
                scroll_filter=self._mine(within),
                limit=size,
                offset=offset,
                with_payload=True,
                with_vectors=vectors,
            )
            page, offset = await ask(asked, patience=PATIENCE)
            if page:
                yield page
            if offset is None:
                return

    def _mine(self, within: Sequence[models.Condition]) -> models.Filter:
        return models.Filter(must=[of_tenant(self.tenant_id), *within])

    def _check(self, points: Sequence[models.PointStruct]) -> None:
        for point in points:
            if (point.payload or {}).get(TENANT) != str(self.tenant_id):
                raise ValueError(f"point {point.id} is not one of the tenant {self.tenant_id}")


def _care(client: AsyncQdrantClient, limit: int) -> models.SearchParams | None:
    """None in the client's local mode, which has no graph and warns of what it does not need."""
    if client.init_options.get("url") is None:
        return None
    return models.SearchParams(hnsw_ef=max(limit, min(CARE * limit, MOST_CARE)))
