"""The layout before 0.2, one collection per tenant, project and model: which of them are left."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Final
from uuid import UUID

from penstock.index.qdrant_requests import ask
from penstock.index.tenant_points import TenantPoints

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

NAME: Final = re.compile(r"penstock_([0-9a-f]{32})_([0-9a-f]{32})_([0-9a-f]{8})")
LOOK_AGAIN: Final = 300.0
"""Nothing creates such collections any more, so they are listed rarely, and never for a single request."""


@dataclass(frozen=True, slots=True, order=True)
class OldCollection:
    name: str
    tenant_id: UUID
    project_id: UUID
    model_hash: str

    def is_of(self, model: str) -> bool:
        return self.model_hash == model_hash(model)


def model_hash(model: str) -> str:
    return hashlib.sha256(model.encode()).hexdigest()[:8]


def old_ones(names: Iterable[str]) -> list[OldCollection]:
    return sorted(
        OldCollection(name, UUID(found[1]), UUID(found[2]), found[3])
        for name in names
        if (found := NAME.fullmatch(name)) is not None
    )


@dataclass(slots=True)
class OldLayout:
    """A copy of the list, read again after some minutes; what was dropped meanwhile is forgotten."""

    client: AsyncQdrantClient
    _known: dict[UUID, list[OldCollection]] = field(default_factory=dict)
    _looked_at: float | None = None

    async def of(self, tenant_id: UUID) -> list[OldCollection]:
        if self._looked_at is None or monotonic() - self._looked_at > LOOK_AGAIN:
            await self.look()
        return list(self._known.get(tenant_id, ()))

    async def look(self) -> list[OldCollection]:
        answer = await ask(self.client.get_collections)
        found = old_ones(collection.name for collection in answer.collections)
        self._known = {}
        for collection in found:
            self._known.setdefault(collection.tenant_id, []).append(collection)
        self._looked_at = monotonic()
        return found

    def forget(self, collection: OldCollection) -> None:
        left = [known for known in self._known.get(collection.tenant_id, ()) if known != collection]
        self._known[collection.tenant_id] = left

    def points(self, collection: OldCollection) -> TenantPoints:
        return TenantPoints(self.client, collection.name, collection.tenant_id)
