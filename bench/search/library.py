"""A tenant whose index holds the generated corpus, put there as the pipeline does, and its search."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from uuid import UUID

import numpy as np
import numpy.typing as npt

from bench.corpus import CHUNK_WORDS, CHUNKS_A_DOCUMENT, Corpus
from bench.job import Figures
from penstock.db import Connection
from penstock.db.connect import connect
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.logins import RUNTIME, create_logins
from penstock.db.migrator import migrate
from penstock.db.tenancy import TenantPool
from penstock.embed.local.embedder import WORDLLAMA
from penstock.index import Index, PgvectorIndex
from penstock.model import Chunk, DocumentId, Embedded, Embedder, ProjectId, Purpose, TenantId, Vector, uuid7
from penstock.search import Search

DATABASE = "search"
WRITERS = 2
RARE = 100
"""One document in this many matches the filter."""

INSERT = """
with taken as (
  insert into ingest.document (
    document_id, tenant_id, project_id, content_sha256, size_bytes, mime_type, filename, file_id, status,
    title, metadata, chunk_count, created_at, updated_at)
  values ($1, $2, $3, sha256($5::text::bytea), 1, 'text/plain', $5, $4, 'indexed', $5, $6, $7, now(), now())
)
insert into files.file (
  file_id, tenant_id, document_id, blob_path, content_sha256, size_bytes, mime_type, stored_at)
values ($4, $2, $1, $5, sha256($5::text::bytea), 1, 'text/plain', now())
"""


def identifier(document: int) -> str:
    """What the first chunk of this document contains, and no other."""
    return f"nr-{document:06}"


class CorpusEmbedder:
    """WordLlama as the corpus loaded it; also hands itself out by any name."""

    model = WORDLLAMA
    dimensions = 256
    max_tokens = 512
    tokenizer = "wordllama"
    batch_size = 1_000
    is_remote = False

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        return Embedded(tuple(Vector(row.tobytes()) for row in self._corpus.embed(texts)), 0)

    async def embedder(self, name: str) -> Embedder:
        return self

    async def close(self) -> None: ...


@dataclasses.dataclass(slots=True)
class Library:
    corpus: Corpus
    admin: Connection
    tenants: TenantPool
    index: Index
    search: Search
    tenant_id: TenantId
    project_id: ProjectId
    documents: list[DocumentId]
    vectors: npt.NDArray[np.float32]
    """Of every chunk, in order: what an exact comparison is made with."""

    async def fill(self) -> Figures:
        """Stage every document, flip them all, and count words; how many chunks a second were staged."""
        async with self.admin.transaction():
            tenant = str(self.tenant_id)
            await self.admin.execute("select set_config('penstock.tenant_id', $1, true)", tenant)
            await self.admin.executemany(INSERT, [self._row(place) for place in range(self.corpus.documents)])
        started = time.perf_counter()
        waiting = iter(range(self.corpus.documents))
        async with asyncio.TaskGroup() as group:
            for _ in range(WRITERS):
                group.create_task(self._stage(waiting))
        seconds = time.perf_counter() - started
        await self.admin.execute("update ingest.document set live_generation = 1")
        await self.admin.execute("vacuum analyze")
        counting = time.perf_counter()
        await self.admin.execute("select all_tenants.refresh_statistics()")
        size = await self.admin.fetchval("select pg_total_relation_size('ingest.posting')")
        return {
            "stage_rate": len(self.vectors) / seconds,
            "count_seconds": time.perf_counter() - counting,
            "postings_mib": size / 2**20,
        }

    async def _stage(self, waiting: Iterator[int]) -> None:
        for place in waiting:
            texts = await asyncio.to_thread(self.corpus.chunks, place)
            texts[0] += f" {identifier(place)}"
            vectors = self.corpus.embed(texts)
            self.vectors[place * CHUNKS_A_DOCUMENT : (place + 1) * CHUNKS_A_DOCUMENT] = vectors
            chunks = [Chunk(number, text, 0, len(text), 120) for number, text in enumerate(texts)]
            await self.index.stage(
                self.tenant_id,
                self.project_id,
                self.documents[place],
                1,
                chunks,
                [Vector(row.tobytes()) for row in vectors],
                CorpusEmbedder.model,
            )

    def _row(self, place: int) -> tuple[UUID, UUID, UUID, UUID, str, str, int]:
        metadata = json.dumps({"team": place % RARE, "half": place % 2})
        return (
            self.documents[place],
            self.tenant_id,
            self.project_id,
            uuid7(),
            f"{place}.txt",
            metadata,
            CHUNKS_A_DOCUMENT,
        )


@contextlib.asynccontextmanager
async def library(
    server: EmbeddedServer, chunks: int, chunk_words: int = CHUNK_WORDS
) -> AsyncIterator[Library]:
    """An empty one of a tenant of its own."""
    corpus = await asyncio.to_thread(lambda: Corpus(chunks // CHUNKS_A_DOCUMENT, chunk_words=chunk_words))
    first = await connect(server.url(database="postgres"))
    await first.execute(f"create database {DATABASE}")
    await first.close()
    admin = await connect(server.url(database=DATABASE), timeout=60)
    tenants: TenantPool | None = None
    try:
        await migrate(admin)
        await create_logins(admin)
        tenants = await TenantPool.open(server.url(RUNTIME, DATABASE), application_name="bench")
        tenant_id, project_id = TenantId(uuid7()), ProjectId(uuid7())
        await admin.execute(
            "select all_tenants.create_tenant($1, $2, 'bench', '', 'wordllama')", tenant_id, project_id
        )
        index = PgvectorIndex(tenants, exact_search_chunks=0)
        yield Library(
            corpus,
            admin,
            tenants,
            index,
            Search(tenants, CorpusEmbedder(corpus), index),
            tenant_id,
            project_id,
            [DocumentId(uuid7()) for _ in range(corpus.documents)],
            np.zeros((chunks, 256), dtype=np.float32),
        )
    finally:
        if tenants is not None:
            await tenants.close()
        await admin.close()
