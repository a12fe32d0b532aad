"""Runs one shard of a re-index: claims it, stages each of its documents, and closes it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import UUID

from penstock.db.connect import CONNECTION_LOST
from penstock.embed.cached import OverBudget
from penstock.errors import (
    DocumentRejected,
    EmbedderBusy,
    EmbedderRefused,
    EmbedderUnavailable,
    IndexNotReady,
    IndexUnavailable,
    InvalidArgument,
    LeaseLost,
    PenstockError,
    QuotaExceeded,
)
from penstock.model import DocumentId, Embedder, TenantId
from penstock.observe import get_logger
from penstock.pipeline.bulk.calls import BulkCalls, HeldShard
from penstock.pipeline.job import MAX_ATTEMPTS, Job
from penstock.pipeline.outages import Outages
from penstock.pipeline.steps import Steps, code_of, facts_of, text_of, with_nesting_noted

log = get_logger(__name__)

AT_ONCE = 4
"""Documents of a shard in work at once: while one is parsed, others are embedded, in common batches."""
BUDGET_SECONDS = 300.0
INDEX_SECONDS = 60.0
LOST_SECONDS = 5.0
"""When to look again at a shard that somebody else took over."""

FINAL = (DocumentRejected, EmbedderRefused, InvalidArgument, QuotaExceeded)
"""Errors that a retry would not fix."""
WAITS = (OverBudget, EmbedderBusy, EmbedderUnavailable, IndexNotReady, IndexUnavailable)
"""Errors of the whole shard: it is given back, and uses no attempt."""
OF_THE_SHARD: tuple[type[BaseException], ...] = (LeaseLost, *WAITS, *CONNECTION_LOST)
"""Errors that say nothing about the document."""


@dataclass(frozen=True, slots=True)
class ShardResult:
    """How a run of a shard ended; counts only, because results may cross a cluster."""

    outcome: Literal["closed", "ended", "held", "waits", "lost"]
    """Closed by this or another run; the whole re-index has ended; somebody else holds it; it waits for an
    embedder or a budget; somebody else took it over."""
    seconds: float = 0.0
    """When to try again."""
    indexed: int = 0
    failed: int = 0


class ShardRunner:
    """One per process, shared by its shards."""

    def __init__(
        self, *, calls: BulkCalls, steps: Steps, outages: Outages, lease_seconds: float, beat_seconds: float
    ) -> None:
        self._calls = calls
        self._steps = steps
        self._outages = outages
        self._lease_seconds = lease_seconds
        self._beat_seconds = beat_seconds

    async def run(self, tenant_id: TenantId, run_id: UUID, shard: int, holder: str) -> ShardResult:
        """`holder`: a name that a repetition by the same engine has, too: it may take over at once."""
        claimed = await self._calls.claim(tenant_id, run_id, shard, holder, self._lease_seconds)
        if claimed["state"] != "claimed":
            return ShardResult(claimed["state"], claimed.get("seconds", 0.0))
        held = HeldShard(tenant_id, run_id, shard, claimed["token"])
        working = asyncio.create_task(self._work(held, claimed["embedder"], is_probe=claimed["is_probe"]))
        beating = asyncio.create_task(self._beat(held))
        try:
            await asyncio.wait([working, beating], return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return await working
            log.info("shard_lost", run_id=str(run_id), shard=shard)
            return ShardResult("lost", LOST_SECONDS)
        except LeaseLost:
            return ShardResult("lost", LOST_SECONDS)
        except WAITS as wait:
            return await self._give_back(held, claimed["embedder"], wait)
        except BaseException:
            # Shut down, or an error of ours: the next holder need not wait for the lease to end.
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            with suppress(Exception):
                await asyncio.shield(self._calls.release(held, None, None))
            raise
        finally:
            for task in (working, beating):
                task.cancel()
            await asyncio.gather(working, beating, return_exceptions=True)

    async def _beat(self, held: HeldShard) -> None:
        """Ends when the shard is lost or its run was stopped."""
        while True:
            await asyncio.sleep(self._beat_seconds)
            with suppress(*CONNECTION_LOST):  # the work notices, too, if this lasts
                if not await self._calls.beat(held, self._lease_seconds):
                    return

    async def _work(self, held: HeldShard, name: str, *, is_probe: bool) -> ShardResult:
        embedder = await self._steps.embedder(name)
        documents = await self._calls.documents(held)
        again: list[DocumentId] = []
        await self._all(held, embedder, [each for each, losses in documents if not losses], again)
        # Documents that a lost worker had begun, one by one: only the one that ends its worker is blamed.
        for document_id, losses in documents:
            if losses:
                await self._document(held, embedder, document_id, again)
        for _ in range(MAX_ATTEMPTS):
            failing, again = again, []
            for document_id in failing:
                await self._document(held, embedder, document_id, again)
        counts = await self._calls.close(held)
        if is_probe and counts["embedded"]:
            await self._outages.end(name)
        log.info("shard_closed", run_id=str(held.run_id), shard=held.shard, **counts)
        return ShardResult("closed", indexed=counts["indexed"], failed=counts["failed"])

    async def _all(
        self,
        held: HeldShard,
        embedder: Embedder,
        documents: Sequence[DocumentId],
        again: list[DocumentId],
    ) -> None:
        left = iter(documents)

        async def some() -> None:
            for document_id in left:
                await self._document(held, embedder, document_id, again)

        tasks = [asyncio.create_task(some()) for _ in range(min(AT_ONCE, len(documents)))]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _document(
        self, held: HeldShard, embedder: Embedder, document_id: DocumentId, again: list[DocumentId]
    ) -> None:
        """Stage one document. An error that may pass adds it to `again`; after three it fails for good."""
        answer = await self._calls.begin(held, document_id)
        if answer["mode"] == "done":
            return
        job = Job.model_validate({**answer, "tenant_id": held.tenant_id})
        try:
            with tempfile.TemporaryDirectory(prefix="penstock-run-") as folder:
                facts = await self._stage(job, embedder, Path(folder))
        except OF_THE_SHARD:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, it is this document's
            if not isinstance(error, FINAL) and answer["attempt"] < MAX_ATTEMPTS:
                again.append(document_id)
                return
            await self._calls.end(
                held, document_id, job.generation, code=code_of(error), message=text_of(error)
            )
            log.warning(
                "document_failed",
                document_id=str(document_id),
                mode=job.mode,
                code=code_of(error),
                message=text_of(error) if isinstance(error, PenstockError) else "see penstock reindex status",
            )
        else:
            await self._calls.end(held, document_id, job.generation, facts=facts)

    async def _stage(self, job: Job, embedder: Embedder, folder: Path) -> str:
        files = await self._steps.parse(job, embedder, folder)
        if job.switches:
            files = with_nesting_noted(job, files)
        else:
            files = await self._steps.take_attachments(job, files)
        assert files.head is not None
        await self._steps.chunk(job, embedder, files)
        counts = await self._steps.embed(job, embedder, files)
        return facts_of(job, files.head, counts, embedder)

    async def _give_back(self, held: HeldShard, name: str, wait: BaseException) -> ShardResult:
        if isinstance(wait, OverBudget):
            reason = (
                f"the next documents need {wait.needed} tokens, and {max(0, wait.left)} are left this month"
            )
            seconds = BUDGET_SECONDS
        elif isinstance(wait, EmbedderBusy | EmbedderUnavailable):
            reason, seconds = wait.message, await self._outages.note(name, wait)
        else:
            reason, seconds = str(wait), INDEX_SECONDS
        await self._calls.release(held, reason, seconds)
        return ShardResult("waits", seconds)
