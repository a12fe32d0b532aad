"""What there is in Qdrant: collections by model, what is left of the old layout, and how many points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from penstock.index.opening import is_server
from penstock.index.qdrant_old_layout import OldCollection, old_ones
from penstock.index.qdrant_requests import CollectionGone, ask, open_client


@dataclass(frozen=True, slots=True)
class ModelCollection:
    model: str
    collection: str
    points: int | None
    """None: it was deleted."""


@dataclass(frozen=True, slots=True)
class QdrantState:
    version: str
    collections: tuple[ModelCollection, ...]
    old: tuple[OldCollection, ...]

    @property
    def deleted(self) -> list[str]:
        return [one.collection for one in self.collections if one.points is None]

    @property
    def points(self) -> int:
        return sum(one.points or 0 for one in self.collections)


async def look(
    address: str, api_key: str | None, seconds: float, known: Mapping[str, str] | None = None
) -> QdrantState:
    """`known`: the collection of each model. Raises IndexUnavailable, or SettingInvalid for a folder that is
    in use."""
    client = open_client(address, api_key, seconds)
    try:
        answer = await ask(client.get_collections)  # needs the key, which info does not
        version = (await ask(client.info)).version if is_server(address) else "in a folder"
        found: list[ModelCollection] = []
        for model, collection in (known or {}).items():
            try:
                info = await ask(partial(client.get_collection, collection))
                found.append(ModelCollection(model, collection, info.points_count or 0))
            except CollectionGone:
                found.append(ModelCollection(model, collection, None))
        old = old_ones(one.name for one in answer.collections)
        return QdrantState(version, tuple(found), tuple(old))
    finally:
        await client.close()
