"""The peer: LlamaIndex's ingestion pipeline into its pgvector store, with our parsers and our model."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import Document
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.postgres import PGVectorStore

from bench.documents.counted import Asked
from penstock.embed.batcher import Batcher
from penstock.embed.tokens import counter
from penstock.model import Vector
from penstock.pipeline.chunk.plan import ChunkPlan

HNSW = {
    "hnsw_m": 16,
    "hnsw_ef_construction": 64,
    "hnsw_ef_search": 40,
    "hnsw_dist_method": "vector_cosine_ops",
}
"""As its documentation sets them."""


class SameModel(BaseEmbedding):
    """Our model in its own child, in batches of the size we use."""

    _batcher: Batcher = PrivateAttr()
    _asked: Asked = PrivateAttr(default_factory=Asked)

    def __init__(self, batcher: Batcher) -> None:
        embedder = batcher.embedder
        super().__init__(model_name=embedder.model, embed_batch_size=embedder.batch_size)
        self._batcher = batcher

    @classmethod
    def class_name(cls) -> str:
        return "SameModel"

    def taken(self) -> Asked:
        asked, self._asked = self._asked, Asked()
        return asked

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._asked.calls += 1
        self._asked.texts += len(texts)
        embedded = await self._batcher.embed(texts)
        return [floats(vector) for vector in embedded.vectors]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return floats((await self._batcher.embed([query], "query")).vectors[0])

    def _get_text_embedding(self, text: str) -> list[float]:
        raise NotImplementedError("the pipeline runs by arun()")

    def _get_query_embedding(self, query: str) -> list[float]:
        raise NotImplementedError("queries come by aquery()")


class Peer:
    """A pipeline on one table; `docstore` is what its documentation calls document management."""

    def __init__(
        self, store: PGVectorStore, batcher: Batcher, plan: ChunkPlan, *, with_docstore: bool
    ) -> None:
        self.store = store
        self.model = SameModel(batcher)
        self._plan = plan
        self._docstore = SimpleDocumentStore() if with_docstore else None

    async def ingest(self, texts: Mapping[str, str]) -> None:
        """As a script does that is run again: a new pipeline each time, over what was kept."""
        documents = [
            Document(
                text=text, id_=name, metadata={"filename": name}, excluded_embed_metadata_keys=["filename"]
            )
            for name, text in texts.items()
        ]
        counts = counter(self._plan.tokenizer)
        splitter = SentenceSplitter(
            chunk_size=self._plan.max_tokens,
            chunk_overlap=self._plan.overlap,
            tokenizer=lambda text: range(counts.count(text)),
            include_metadata=False,
        )
        pipeline = IngestionPipeline(
            transformations=[splitter, self.model],
            vector_store=self.store,
            docstore=self._docstore,
            docstore_strategy=DocstoreStrategy.UPSERTS,
        )
        await pipeline.arun(documents=documents)


@contextlib.asynccontextmanager
async def table(
    url: str, dimensions: int, hnsw: Mapping[str, Any] | None = None
) -> AsyncIterator[PGVectorStore]:
    """Its store on the same server, in a database of its own."""
    store = PGVectorStore(
        connection_string=_address(url, "psycopg2"),
        async_connection_string=_address(url, "asyncpg"),
        table_name="peer",
        embed_dim=dimensions,
        use_jsonb=True,
        hnsw_kwargs=dict(hnsw) if hnsw else None,
        initialization_fail_on_error=True,
    )
    try:
        yield store
    finally:
        await store.close()


def _address(url: str, driver: str) -> str:
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    # Both drivers read the passwords from the file this variable names; their addresses take no `passfile`.
    os.environ["PGPASSFILE"] = query["passfile"][0]
    return f"postgresql+{driver}://{parts.username}@/{parts.path.lstrip('/')}?host={query['host'][0]}"


def floats(vector: Vector) -> list[float]:
    found: list[float] = np.frombuffer(vector, dtype="<f2").astype(np.float32).tolist()
    return found
