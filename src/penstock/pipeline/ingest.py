"""One run of one document: parse, classify, chunk, embed, and commit the result in one transaction."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from time import perf_counter

from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.embed.cached import OverBudget
from penstock.errors import (
    DocumentRejected,
    EmbedderBusy,
    EmbedderRefused,
    EmbedderUnavailable,
    IndexNotReady,
    InvalidArgument,
    LeaseLost,
    NotFound,
    PenstockError,
    QuotaExceeded,
)
from penstock.model import Embedder, Snooze, TenantId
from penstock.observe import get_logger
from penstock.pipeline.classify import Classifier, Skip
from penstock.pipeline.classify.decision import decision_json
from penstock.pipeline.job import MAX_ATTEMPTS, IngestDocument, Job
from penstock.pipeline.one_batch import OneBatch
from penstock.pipeline.outages import Outages
from penstock.pipeline.parsed_files import ParsedFiles
from penstock.pipeline.run_limit import within
from penstock.pipeline.steps import Steps, code_of, facts_of, reading_of, text_of
from penstock.queue.task_run import TaskRun

log = get_logger(__name__)

BUDGET_SECONDS = 300.0
"""How often a document over its tenant's budget is retried."""

INDEX_SECONDS = 60.0
"""How often a document is retried while pgvector is not installed."""

BEGIN = "ingest.begin_run($2, $3, $4, $5, $6, $7)"
START_EMBEDDING = "ingest.start_embedding($2, $3, $4, $5)"
FINISH = "select ingest.finish_run($1, $2, $3, $4, $5, $6, $7)"
FAIL = "select ingest.fail_run($1, $2, $3, $4, $5, $6, $7)"
SKIP = "select ingest.skip_run($1, $2, $3, $4)"
WAIT = "ingest.note_wait($2, $3, $4, $5, $6, $7)"

FINAL = (DocumentRejected, EmbedderRefused, InvalidArgument, QuotaExceeded)
"""Errors that a retry would not fix."""


class Ingest:
    """The handler of `ingest-document`; one per worker, shared by its runs."""

    def __init__(
        self,
        *,
        tenants: TenantPool,
        steps: Steps,
        one_batch: OneBatch,
        classifier: Classifier,
        outages: Outages,
        code_version: str,
        run_seconds: float,
    ) -> None:
        self._tenants = tenants
        self._steps = steps
        self._one_batch = one_batch
        self._classifier = classifier
        self._outages = outages
        self._code_version = code_version
        self._run_seconds = run_seconds

    async def __call__(self, payload: IngestDocument, run: TaskRun) -> Snooze | None:
        assert run.tenant_id is not None, "a document's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        answer = json.loads(
            await self._tenants.call(
                tenant_id,
                BEGIN,
                payload.document_id,
                run.task_id,
                run.attempt,
                self._code_version,
                self._outages.fallback,
                self._outages.fallback_after,
                durable=False,
            )
        )
        if answer["mode"] in ("gone", "done"):
            return None
        if answer["mode"] == "wait":
            return Snooze(answer["seconds"])
        job = Job.model_validate({**answer, "tenant_id": tenant_id})
        started = perf_counter()
        try:
            async with within(self._run_seconds):
                await self._work(job, run)
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

    async def _work(self, job: Job, run: TaskRun) -> None:
        embedder = await self._steps.embedder(job.embedder)
        with tempfile.TemporaryDirectory(prefix="penstock-run-") as folder:
            await self._index(job, run, embedder, await self._steps.parse(job, embedder, Path(folder)))

    async def _index(self, job: Job, run: TaskRun, embedder: Embedder, files: ParsedFiles) -> None:
        decided = None
        if not job.is_restored and self._classifier.reads(job):
            decided = await self._classifier.classify(job, await asyncio.to_thread(files.beginning))
        decision = None if decided is None else decision_json(decided)
        if isinstance(decided, Skip):
            async with run.transaction() as conn:
                await conn.execute(SKIP, job.document_id, job.generation, decided.reason, decision)
            return
        files = await self._steps.take_attachments(job, files)
        assert files.head is not None
        count = await self._steps.chunk(job, embedder, files)
        detail = json.dumps({"chunks": count, **reading_of(files.head), "embedder": embedder.model})
        if (chunks := await self._steps.only_batch(files, count)) is not None:
            await self._one_batch.index(
                job, run, embedder, chunks, files.head, detail=detail, decision=decision
            )
            return
        if not await self._tenants.call(
            job.tenant_id,
            START_EMBEDDING,
            job.document_id,
            job.generation,
            detail,
            decision,
            durable=False,
        ):
            return
        counts = await self._steps.embed(job, embedder, files)
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
                facts_of(job, files.head, counts, embedder),
                self._code_version,
            )

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
        await self._tenants.call(
            tenant_id, WAIT, job.document_id, job.generation, job.mode, reason, message, seconds
        )


async def _diagnose(conn: Connection, job: Job, run: TaskRun, error: Exception, *, final: bool) -> None:
    detail = json.dumps({"attempt": run.attempt, "pipeline": job.pipeline})
    await conn.execute(
        FAIL, job.document_id, job.generation, job.mode, code_of(error), text_of(error), final, detail
    )


def _log_failure(job: Job, error: Exception) -> None:
    """A foreign error may quote the document, and logs outlive the tenant."""
    ours = isinstance(error, PenstockError)
    log.warning(
        "document_failed",
        document_id=str(job.document_id),
        mode=job.mode,
        code=code_of(error),
        message=text_of(error) if ours else f"penstock explain {job.document_id} shows the message",
    )
