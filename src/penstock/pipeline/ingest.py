"""One run of one document: parse, classify, chunk, embed, and commit the result in one transaction."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.embed.cached import OverBudget
from penstock.errors import (
    DocumentRejected,
    EmbedderBusy,
    EmbedderOutOfMemory,
    EmbedderRefused,
    EmbedderUnavailable,
    IndexNotReady,
    InvalidArgument,
    LeaseLost,
    NotFound,
    PenstockError,
    QuotaExceeded,
)
from penstock.model import Attachment, DocumentId, Embedder, ProjectId, Snooze, TenantId
from penstock.observe import get_logger
from penstock.pipeline.chunk import ChunkPlan, plan_for
from penstock.pipeline.chunk.chunk_file import read_batches
from penstock.pipeline.classify import Classifier, Skip
from penstock.pipeline.classify.decision import decision_json
from penstock.pipeline.embedding import ChunkEmbedder, EmbeddingCounts
from penstock.pipeline.job import MAX_ATTEMPTS, IngestDocument, Job
from penstock.pipeline.outages import Outages
from penstock.pipeline.parsed_files import ParsedFiles, ParsedHead
from penstock.pipeline.reasons import Reason
from penstock.queue.task_run import TaskRun

if TYPE_CHECKING:
    from penstock.blobs.store import Blobs
    from penstock.embed.embedders import Embedders
    from penstock.pipeline.parser_pool import ParserPool

log = get_logger(__name__)

BUDGET_SECONDS = 300.0
"""How often a document over its tenant's budget is retried."""

MOST_NESTED = 5
"""How deep files may be inside files: a mail in an archive in a mail is three deep."""

INDEX_SECONDS = 60.0
"""How often a document is retried while pgvector is not installed."""

BEGIN = "select ingest.begin_run($1, $2, $3, $4, $5, $6)"
START_EMBEDDING = "select ingest.start_embedding($1, $2, $3, $4)"
FINISH = "select ingest.finish_run($1, $2, $3, $4, $5, $6, $7)"
FAIL = "select ingest.fail_run($1, $2, $3, $4, $5, $6, $7)"
SKIP = "select ingest.skip_run($1, $2, $3, $4)"
WAIT = "select ingest.note_wait($1, $2, $3, $4, $5, $6)"

FINAL = (DocumentRejected, EmbedderRefused, InvalidArgument, QuotaExceeded)
"""Errors that a retry would not fix."""


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


class Ingest:
    """The handler of `ingest-document`; one per worker, shared by its runs."""

    def __init__(
        self,
        *,
        tenants: TenantPool,
        blobs: Blobs,
        parser: ParserPool,
        embeds: Embedders,
        chunk_embedder: ChunkEmbedder,
        classifier: Classifier,
        take_attachment: TakeAttachment,
        outages: Outages,
        code_version: str,
    ) -> None:
        self._tenants = tenants
        self._blobs = blobs
        self._parser = parser
        self._embeds = embeds
        self._chunk_embedder = chunk_embedder
        self._classifier = classifier
        self._take_attachment = take_attachment
        self._outages = outages
        self._code_version = code_version

    async def __call__(self, payload: IngestDocument, run: TaskRun) -> Snooze | None:
        assert run.tenant_id is not None, "a document's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            answer = json.loads(
                await conn.fetchval(
                    BEGIN,
                    payload.document_id,
                    run.task_id,
                    run.attempt,
                    self._code_version,
                    self._outages.fallback,
                    self._outages.fallback_after,
                )
            )
        if answer["mode"] in ("gone", "done"):
            return None
        if answer["mode"] == "wait":
            return Snooze(answer["seconds"])
        job = Job.model_validate({**answer, "tenant_id": tenant_id})
        started = perf_counter()
        try:
            await self._work(tenant_id, job, run)
        except LeaseLost:
            raise
        except OverBudget as over:
            await self._wait(
                tenant_id,
                job,
                "over_budget",
                f"it needs {over.needed} tokens, but the tenant has {max(0, over.left)} left this month",
                BUDGET_SECONDS,
            )
            return Snooze(BUDGET_SECONDS)
        except (EmbedderBusy, EmbedderUnavailable) as down:
            seconds = await self._outages.note(job.embedder, down)
            await self._wait(tenant_id, job, "embedder_unavailable", down.message, seconds)
            return Snooze(seconds)
        except IndexNotReady as missing:
            await self._wait(tenant_id, job, "index_not_ready", str(missing), INDEX_SECONDS)
            return Snooze(INDEX_SECONDS)
        except FINAL as error:
            await self._fail_for_good(job, run, error)
            return None
        except NotFound as gone:
            # Deleted while it ran: there is nothing to write.
            if gone.field != "document_id":
                await self._failed(tenant_id, job, run, gone)
                raise
        except Exception as error:
            await self._failed(tenant_id, job, run, error)
            raise
        log.info(
            "document_run_ended",
            document_id=str(job.document_id),
            mode=job.mode,
            seconds=round(perf_counter() - started, 3),
        )
        return None

    async def _work(self, tenant_id: TenantId, job: Job, run: TaskRun) -> None:
        await self._chunk_embedder.require_index()
        embedder = await self._embeds.embedder(job.embedder)
        plan = plan_for(
            embedder.max_tokens,
            job.chunk_strategy,
            job.chunk_tokens,
            job.chunk_overlap,
            tokenizer=embedder.tokenizer,
        )
        with tempfile.TemporaryDirectory(prefix="penstock-run-") as folder:
            files = await self._parse(tenant_id, job, Path(folder))
            await self._index(tenant_id, job, run, embedder, plan, files)

    async def _index(
        self,
        tenant_id: TenantId,
        job: Job,
        run: TaskRun,
        embedder: Embedder,
        plan: ChunkPlan,
        files: ParsedFiles,
    ) -> None:
        beginning = await asyncio.to_thread(files.beginning)
        decided = None
        if job.mode == "index" and not job.is_restored:
            decided = await self._classifier.classify(job, beginning)
        decision = None if decided is None else decision_json(decided)
        if isinstance(decided, Skip):
            async with run.transaction() as conn:
                await conn.execute(SKIP, job.document_id, job.generation, decided.reason, decision)
            return
        del beginning
        if job.mode == "index":
            files = await self._take_attachments(tenant_id, job, files)
        assert files.head is not None
        chunks = await self._parser.chunk(files, plan, owner=str(tenant_id))
        if not chunks:
            raise DocumentRejected("empty", "it contains no text", "Upload a document with text.")
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            detail = {"chunks": chunks, "parser": files.head.parser, "embedder": embedder.model}
            going = await conn.fetchval(
                START_EMBEDDING, job.document_id, job.generation, json.dumps(detail), decision
            )
        if not going:
            return
        counts = EmbeddingCounts()
        batches = read_batches(files.chunks)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            await self._chunk_embedder.stage(tenant_id, job, embedder, batch, counts)
        if job.is_probe and counts.embedded:
            await self._outages.end(job.embedder)
        async with run.transaction() as conn:
            await conn.execute(
                FINISH,
                job.document_id,
                job.generation,
                job.mode,
                bytes.fromhex(job.content_sha256),
                job.pipeline,
                _facts(job, files.head, counts, embedder),
                self._code_version,
            )

    async def _take_attachments(self, tenant_id: TenantId, job: Job, files: ParsedFiles) -> ParsedFiles:
        """Ingest the files inside this one, unless it is itself inside too many: archives can be endless."""
        assert files.head is not None
        depth = job.depth + 1
        if depth > MOST_NESTED and files.head.attachments:
            left = f"the files in it were left out: they are nested more than {MOST_NESTED} deep"
            head = dataclasses.replace(files.head, warnings=(*files.head.warnings, left))
            return dataclasses.replace(files, head=head)
        for attachment in files.each_attachment():
            if attachment.content:
                noted = {"filename": attachment.filename}
                await self._take_attachment(
                    tenant_id, job.project_id, job.document_id, attachment, noted, depth
                )
        return files

    async def _parse(self, tenant_id: TenantId, job: Job, folder: Path) -> ParsedFiles:
        path = folder / "document"
        if job.blob_path is not None:
            await self._blobs.fetch(job.blob_path, path)
        else:
            await asyncio.to_thread(path.write_text, job.text or "", "utf-8")
        files = await self._parser.parse_to(
            folder,
            path,
            mime_type=job.mime_type,
            filename=job.filename,
            by=job.parser,
            owner=str(tenant_id),
        )
        await asyncio.to_thread(path.unlink)
        return files

    async def _failed(self, tenant_id: TenantId, job: Job, run: TaskRun, error: Exception) -> None:
        """Record the error; the queue decides when the next attempt is."""
        async with self._tenants.transaction(tenant_id) as conn:
            await _diagnose(conn, job, run, error, final=run.attempt >= MAX_ATTEMPTS)
        if run.attempt >= MAX_ATTEMPTS:
            _log_failure(job, error)

    async def _fail_for_good(self, job: Job, run: TaskRun, error: Exception) -> None:
        """A retry would not help: record the failure and end the task in one transaction."""
        async with run.transaction(counts_as="failed") as conn:
            await _diagnose(conn, job, run, error, final=True)
        _log_failure(job, error)

    async def _wait(self, tenant_id: TenantId, job: Job, reason: str, message: str, seconds: float) -> None:
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute(WAIT, job.document_id, job.generation, job.mode, reason, message, seconds)


async def _diagnose(conn: Connection, job: Job, run: TaskRun, error: Exception, *, final: bool) -> None:
    detail = json.dumps({"attempt": run.attempt, "pipeline": job.pipeline})
    await conn.execute(
        FAIL, job.document_id, job.generation, job.mode, _code(error), _text(error), final, detail
    )


def _log_failure(job: Job, error: Exception) -> None:
    """A foreign error may quote the document, and logs outlive the tenant."""
    ours = isinstance(error, PenstockError)
    log.warning(
        "document_failed",
        document_id=str(job.document_id),
        mode=job.mode,
        code=_code(error),
        message=_text(error) if ours else f"penstock explain {job.document_id} shows the message",
    )


def _facts(job: Job, parsed: ParsedHead, counts: EmbeddingCounts, embedder: Embedder) -> str:
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
        "counts": {
            "chunks": counts.chunks,
            "tokens": counts.tokens,
            "embedded": counts.embedded,
            "reused": counts.reused,
            "model": embedder.model,
        },
    }
    return json.dumps(facts)


def _code(error: Exception) -> str:
    if isinstance(error, DocumentRejected):
        return error.code
    if isinstance(error, EmbedderOutOfMemory):
        return Reason.OOM
    if isinstance(error, asyncio.TimeoutError):
        return "timeout"
    return type(error).__name__


def _text(error: Exception) -> str:
    return (str(error) if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}").replace(
        "\x00", ""
    )
