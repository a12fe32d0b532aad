"""The steps of indexing a document that its own run and a shard of a re-index share."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from penstock.errors import DocumentRejected, EmbedderOutOfMemory, PenstockError
from penstock.model import Attachment, Chunk, DocumentId, Embedder, ProjectId, TenantId
from penstock.pipeline.chunk import ChunkPlan, plan_for
from penstock.pipeline.chunk.chunk_file import read_batches
from penstock.pipeline.embedding import STEP, ChunkEmbedder, EmbeddingCounts
from penstock.pipeline.job import Job
from penstock.pipeline.parsed_files import ParsedFiles, ParsedHead
from penstock.pipeline.reasons import Reason

if TYPE_CHECKING:
    from penstock.blobs.store import Blobs
    from penstock.embed.embedders import Embedders
    from penstock.pipeline.parser_pool import ParserPool

ON_THE_LOOP = 262_144
"""A file of chunks up to this many bytes is read on the event loop: a thread would cost more."""

MOST_NESTED = 5
"""How deep files may be inside files: a mail in an archive in a mail is three deep."""


BY_PAGE = ("pdf_reading", "ocr_confidence")
"""Metadata of a file that says how each page was read, such as `layout 1-4, 6; pdfium 5`."""


class TakeAttachment(Protocol):
    """Ingests a file inside a file as its own document; a protocol, since intake is not below.

    `depth` is how many files are around it.
    """

    async def __call__(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        parent: DocumentId,
        attachment: Attachment,
        metadata: Mapping[str, str],
        depth: int,
    ) -> None: ...


class Steps:
    """One per worker, shared by its runs."""

    def __init__(
        self,
        *,
        blobs: Blobs,
        parser: ParserPool,
        embeds: Embedders,
        chunk_embedder: ChunkEmbedder,
        take_attachment: TakeAttachment,
    ) -> None:
        self._blobs = blobs
        self._parser = parser
        self._embeds = embeds
        self.chunk_embedder = chunk_embedder
        self._take_attachment = take_attachment

    async def embedder(self, name: str) -> Embedder:
        """The embedder, after making sure that what it makes can be stored."""
        await self.chunk_embedder.require_index()
        return await self._embeds.embedder(name)

    async def parse(self, job: Job, embedder: Embedder, folder: Path) -> ParsedFiles:
        """Parse the file, and chunk it for the embedder if its text is short."""
        own = path = folder / "document"
        if job.blob_path is not None:
            path = await self._blobs.local(job.blob_path, own)
        else:
            await asyncio.to_thread(path.write_text, job.text or "", "utf-8")
        files = await self._parser.parse_to(
            folder,
            path,
            mime_type=job.mime_type,
            filename=job.filename,
            by=job.parser,
            owner=str(job.tenant_id),
            plan=_plan(job, embedder),
        )
        own.unlink(missing_ok=True)  # it may be large, and its text may take a while to embed
        return files

    async def take_attachments(self, job: Job, files: ParsedFiles) -> ParsedFiles:
        """Ingest the files inside this one, unless it is itself inside too many: archives can be endless."""
        depth = job.depth + 1
        if depth > MOST_NESTED:
            return with_nesting_noted(job, files)
        for attachment in files.each_attachment():
            if attachment.content:
                noted = {"filename": attachment.filename}
                await self._take_attachment(
                    job.tenant_id, job.project_id, job.document_id, attachment, noted, depth
                )
        return files

    async def chunk(self, job: Job, embedder: Embedder, files: ParsedFiles) -> int:
        """Chunk the text into `files.chunks`; returns how many chunks there are, at least one."""
        chunks = await self._parser.chunk(files, _plan(job, embedder), owner=str(job.tenant_id))
        if not chunks:
            raise DocumentRejected("empty", "it contains no text", "Upload a document with text.")
        return chunks

    async def only_batch(self, files: ParsedFiles, count: int) -> list[Chunk] | None:
        """All chunks, if they can be published in one transaction: the vectors are in the database, too, and
        the chunks are in one batch of the file."""
        if count > STEP or not self.chunk_embedder.is_in_database:
            return None
        batches = read_batches(files.chunks)
        # The size counts, not what the sandbox says of it.
        is_small = files.chunks.stat().st_size <= ON_THE_LOOP
        batch = next(batches, None) if is_small else await asyncio.to_thread(next, batches, None)
        return batch if batch is not None and len(batch) == count else None

    async def embed(self, job: Job, embedder: Embedder, files: ParsedFiles) -> EmbeddingCounts:
        """Embed the chunks and stage them as the job's generation."""
        counts = EmbeddingCounts()
        batches = read_batches(files.chunks)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            await self.chunk_embedder.stage(job.tenant_id, job, embedder, batch, counts, files.head)
        return counts


def _plan(job: Job, embedder: Embedder) -> ChunkPlan:
    return plan_for(
        embedder.max_tokens,
        job.chunk_strategy,
        job.chunk_tokens,
        job.chunk_overlap,
        tokenizer=embedder.tokenizer,
    )


def with_nesting_noted(job: Job, files: ParsedFiles) -> ParsedFiles:
    """With a warning if the files in this one are nested too deep to be ingested."""
    assert files.head is not None
    if job.depth < MOST_NESTED or not files.head.attachments:
        return files
    left = f"the files in it were left out: they are nested more than {MOST_NESTED} deep"
    head = dataclasses.replace(files.head, warnings=(*files.head.warnings, left))
    return dataclasses.replace(files, head=head)


def facts_of(job: Job, parsed: ParsedHead, counts: EmbeddingCounts, embedder: Embedder) -> str:
    """What a run found in a document, as SQL writes it to the document's row and, of a re-index, `reading` to
    its timeline."""
    facts: dict[str, Any] = {
        "fallback": job.embedder if job.is_fallback else None,
        "title": parsed.title,
        "author": parsed.author,
        "language": parsed.language,
        "created_at": parsed.created_at and parsed.created_at.isoformat(),
        "modified_at": parsed.modified_at and parsed.modified_at.isoformat(),
        "page_count": parsed.page_count,
        "parser": parsed.parser,
        "warnings": list(parsed.warnings),
        "reading": reading_of(parsed),
        "counts": {
            "chunks": counts.chunks,
            "tokens": counts.tokens,
            "embedded": counts.embedded,
            "reused": counts.reused,
            "embedded_tokens": counts.embedded_tokens,
            "model": embedder.model,
        },
    }
    return json.dumps(facts)


def reading_of(parsed: ParsedHead) -> dict[str, str]:
    """How a file was read, for its timeline: by which parser and, page by page, what was taken."""
    said = parsed.metadata or {}
    return {"parser": parsed.parser, **{name: said[name] for name in BY_PAGE if name in said}}


def code_of(error: Exception) -> str:
    """The reason code of a run that failed with this error."""
    if isinstance(error, DocumentRejected):
        return error.code
    if isinstance(error, EmbedderOutOfMemory):
        return Reason.OOM
    if isinstance(error, asyncio.TimeoutError):
        return "timeout"
    return type(error).__name__


def text_of(error: Exception) -> str:
    """The message of an error, as the document's timeline keeps it."""
    return (str(error) if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}").replace(
        "\x00", ""
    )
