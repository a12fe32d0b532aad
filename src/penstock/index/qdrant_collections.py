"""The collections in Qdrant: one per model, created with its first vector, and known without listing them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from qdrant_client import AsyncQdrantClient, models

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable
from penstock.index.qdrant_points import DENSE, SPARSE, TENANT, collection_of
from penstock.index.qdrant_requests import PATIENCE, CollectionExists, CollectionGone, ask
from penstock.observe import get_logger

log = get_logger(__name__)

NOTE: Final = "select ingest.note_collection($1, $2, $3)"

PAYLOAD_INDEXES: Final[dict[str, models.KeywordIndexParams | models.PayloadSchemaType]] = {
    TENANT: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "projectId": models.PayloadSchemaType.KEYWORD,
    "documentId": models.PayloadSchemaType.KEYWORD,
    "generation": models.PayloadSchemaType.INTEGER,
    "isDeleted": models.PayloadSchemaType.BOOL,
}

# No graph over all tenants, which no search uses; each large tenant gets its own. It is built with care,
# because each search gains.
GRAPHS: Final = models.HnswConfigDiff(m=0, payload_m=16, ef_construct=200)


@dataclass(slots=True)
class Collections:
    """What this process has seen; other processes create and delete collections, too."""

    client: AsyncQdrantClient
    tenants: TenantPool
    is_local: bool
    _ready: dict[str, int]

    async def ready(self, model: str, dimensions: int) -> str:
        """The model's collection, created if it does not exist; asks Qdrant only the first time."""
        name = collection_of(model)
        if self._ready.get(name) != dimensions:
            await self._prepare(name, dimensions)
            async with self.tenants.all_tenants() as connection:
                await connection.execute(NOTE, model, name, dimensions)
            self._ready[name] = dimensions
        return name

    def forget(self, name: str) -> None:
        """Look again before the next write: it was deleted."""
        self._ready.pop(name, None)

    async def _prepare(self, name: str, dimensions: int) -> None:
        try:
            found = await self._look(name)
        except CollectionGone:
            await self._create(name, dimensions)
            found = await self._look(name)
        self._check(name, found, dimensions)
        if self.is_local:  # which has no indexes
            return
        for field in PAYLOAD_INDEXES.keys() - (found.payload_schema or {}).keys():
            create = partial(self.client.create_payload_index, name, field, PAYLOAD_INDEXES[field], wait=True)
            await ask(create, patience=PATIENCE)

    async def _look(self, name: str) -> models.CollectionInfo:
        return await ask(lambda: self.client.get_collection(name), patience=PATIENCE)

    async def _create(self, name: str, dimensions: int) -> None:
        try:
            await ask(
                lambda: self.client.create_collection(
                    name,
                    vectors_config={
                        DENSE: models.VectorParams(size=dimensions, distance=models.Distance.DOT)
                    },
                    # No IDF modifier: it would count the words of all tenants.
                    sparse_vectors_config={SPARSE: models.SparseVectorParams()},
                    hnsw_config=GRAPHS,
                ),
                patience=PATIENCE,
            )
        except CollectionExists:
            return
        log.info("collection_created", collection=name, dimensions=dimensions)

    def _check(self, name: str, found: models.CollectionInfo, dimensions: int) -> None:
        parameters = found.config.params
        dense = parameters.vectors.get(DENSE) if isinstance(parameters.vectors, dict) else None
        sparse = (parameters.sparse_vectors or {}).get(SPARSE)
        if dense is None or dense.size != dimensions or sparse is None or sparse.modifier is not None:
            raise IndexUnavailable(
                "Qdrant",
                f"the collection {name} was not created by Penstock: it needs vectors {DENSE!r} of"
                f" {dimensions} numbers and sparse vectors {SPARSE!r} without a modifier",
                "Rename or delete that collection; Penstock then creates its own",
            )
