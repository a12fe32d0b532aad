"""A tenant with chunks in the index, written as the pipeline does it, and an embedder that compares words."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from penstock.db import Connection, Record
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument
from penstock.index import Index, PgvectorIndex
from penstock.model import Chunk, DocumentId, Embedded, Embedder, ProjectId, Purpose, TenantId, Vector, uuid7
from penstock.search import Search, SearchHit, SearchQuery
from tests.plugins.database import Database
from tests.plugins.server import PROGRAMS

INSERT = """
insert into ingest.document (
  document_id, tenant_id, project_id, content_sha256, size_bytes, mime_type, filename, file_id, status, title,
  metadata, source_id, document_created_at, chunk_count, created_at, updated_at)
values ($1, $2, $3, $4, 1, $5, $6, $7, 'indexed', $8, $9, $10, $11, $12, now(), now())
"""
FILE = "insert into files.file values ($1, $2, $3, $4, $5, 1, 'text/plain', now())"


class WordEmbedder:
    """Texts with words in common are near each other; counts its calls."""

    dimensions = 64
    max_tokens = 512
    tokenizer = "words"
    batch_size = 1000
    is_remote = False

    def __init__(self, model: str = "words-64") -> None:
        self.model = model
        self.calls = 0

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        self.calls += 1
        return Embedded(tuple(self.vector(text) for text in texts), sum(len(text.split()) for text in texts))

    def vector(self, text: str) -> Vector:
        counts = np.full(self.dimensions, 0.001)
        for word in re.findall(r"\w+", text.lower()):
            counts[zlib.crc32((self.model + word).encode()) % self.dimensions] += 1
        return Vector((counts / np.linalg.norm(counts)).astype("<f2").tobytes())

    async def close(self) -> None: ...


class Embedders:
    """By their name in a project."""

    def __init__(self, **named: WordEmbedder) -> None:
        self.named = named

    async def embedder(self, name: str) -> Embedder:
        if name not in self.named:
            raise InvalidArgument(f"there is no embedder {name!r}", "embedder")
        return self.named[name]


@dataclass(frozen=True, slots=True)
class IndexedTenant:
    tenants: TenantPool
    admin: Connection
    index: Index
    words: WordEmbedder
    search: Search
    tenant_id: TenantId
    project_id: ProjectId

    async def document(
        self, *, project_id: UUID | None = None, chunks: int = 1, **columns: Any
    ) -> DocumentId:
        """A document's row, not live."""
        document_id, file_id = DocumentId(uuid7()), uuid7()
        sha256 = hashlib.sha256(document_id.bytes).digest()
        async with self.admin.transaction():
            await self.admin.execute(
                "select set_config('penstock.tenant_id', $1, true)", str(self.tenant_id)
            )  # its quota is checked
            await self.admin.execute(
                INSERT,
                document_id,
                self.tenant_id,
                project_id or self.project_id,
                sha256,
                columns.get("mime_type", "text/plain"),
                columns.get("filename", "note.txt"),
                file_id,
                columns.get("title"),
                json.dumps(columns.get("metadata", {})),
                columns.get("source_id"),
                columns.get("created_at"),
                chunks,
            )
            await self.admin.execute(FILE, file_id, self.tenant_id, document_id, str(document_id), sha256)
        return document_id

    async def stage(self, document_id: DocumentId, texts: Sequence[str], generation: int = 1) -> list[Chunk]:
        chunks = chunks_of(texts)
        vectors = [self.words.vector(chunk.embedder_input) for chunk in chunks]
        await self.index.stage(
            self.tenant_id, self.project_id, document_id, generation, chunks, vectors, self.words.model
        )
        return chunks

    async def flip(self, document_id: DocumentId, generation: int = 1) -> None:
        await self.admin.execute(
            """
            with flipped as (
              update ingest.document as d set live_generation = $2
              from ingest.document as o
              where o.document_id = d.document_id and d.document_id = $1
              returning d.tenant_id, d.document_id, o.live_generation
            )
            insert into ingest.sweep (tenant_id, document_id, generation, due_at)
            select f.*, now() from flipped as f where f.live_generation > 0
            """,
            document_id,
            generation,
        )

    async def put(self, *texts: str, **columns: Any) -> DocumentId:
        """A live document with these chunks."""
        document_id = await self.document(chunks=len(texts), **columns)
        await self.stage(document_id, texts)
        await self.flip(document_id)
        return document_id

    async def delete(self, document_id: DocumentId) -> None:
        await self.admin.execute(
            "update ingest.document set status = 'deleted', deleted_at = now(), live_generation = 0"
            " where document_id = $1",
            document_id,
        )

    async def find(self, query: str, **options: Any) -> tuple[SearchHit, ...]:
        return (await self.search.search(self.tenant_id, SearchQuery(query=query, **options))).hits

    async def found(self, query: str, **options: Any) -> list[UUID | None]:
        return [hit.document_id for hit in await self.find(query, **options)]

    async def rows(self, query: str, *arguments: object) -> list[Record]:
        """What a function returns to the runtime login for this tenant."""
        async with self.tenants.transaction(self.tenant_id) as connection:
            return await connection.fetch(query, *arguments)

    async def count(self, table: str) -> int:
        count: int = await self.admin.fetchval(f"select count(*) from ingest.{table}")
        return count


def chunks_of(texts: Sequence[str]) -> list[Chunk]:
    return [
        Chunk(
            ordinal,
            text,
            0,
            len(text),
            len(text.split()),
            ("Handbook", f"Part {ordinal}"),
            ordinal + 1,
            ordinal + 1,
        )
        for ordinal, text in enumerate(texts)
    ]


@asynccontextmanager
async def indexed_tenant(
    database: Database,
    slug: str = "acme",
    *,
    exact_search_chunks: int = 50_000,
    index: Index | None = None,
    model: str = "words-64",
) -> AsyncIterator[IndexedTenant]:
    tenants = await TenantPool.open(database.runtime_url, application_name="indexed tenant", size=4)
    try:
        async with database.connect("admin") as admin:
            if index is None and os.environ.get(PROGRAMS):
                await _require_pgvector(admin)
            tenant_id, project_id = TenantId(uuid7()), ProjectId(uuid7())
            await admin.execute(
                "select all_tenants.create_tenant($1, $2, $3, '', 'words')", tenant_id, project_id, slug
            )
            used = index or PgvectorIndex(tenants, exact_search_chunks)
            words = WordEmbedder(model)
            search = Search(tenants, Embedders(words=words, other=WordEmbedder("other-64")), used)
            yield IndexedTenant(tenants, admin, used, words, search, tenant_id, project_id)
    finally:
        await tenants.close()


async def _require_pgvector(admin: Connection) -> None:
    """Skip on a server chosen by hand that lacks it; the embedded server must always have it."""
    if not await admin.fetchval("select exists (select from pg_available_extensions where name = 'vector')"):
        pytest.skip(f"the server of {PROGRAMS} has no pgvector, and this test searches by vector")
