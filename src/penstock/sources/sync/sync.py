"""One run of a sync: refresh the token, read every stream from its cursor, and say how it ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from penstock.embed.cached import OverBudget
from penstock.errors import LeaseLost, QuotaExceeded
from penstock.model import Snooze, SourceId, TenantId
from penstock.observe import get_logger
from penstock.sources.errors import (
    AccessForbidden,
    BindingMismatch,
    CursorExpired,
    LoginRejected,
    ProviderUnavailable,
    RefreshTokenInvalid,
    SourceError,
    Throttled,
    TokenRejected,
)
from penstock.sources.mail.stored_memory import StoredMemory
from penstock.sources.protocol import Checkpoint, Cursor, LookProvider, OpenSource, SyncEvent
from penstock.sources.registry import needs_grant
from penstock.sources.sync.items import Batch
from penstock.sources.sync.job import MAX_ATTEMPTS, SyncJob, SyncSource
from penstock.sources.sync.one_ahead import OneAhead

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.queue.task_run import TaskRun
    from penstock.settings import Settings
    from penstock.sources.passwords import Passwords
    from penstock.sources.protocol import Provider, Reader
    from penstock.sources.sync.estimating import FirstSyncEstimate
    from penstock.sources.sync.writing import ItemWriter

log = get_logger(__name__)

BEGIN = "select ingest.begin_sync($1, $2)"
OPEN_STREAM = "select ingest.open_stream($1, $2, $3)"
RESTART_STREAM = "select ingest.restart_stream($1, $2, $3)"
WAIT = "select ingest.wait_sync($1, $2, $3, $4, $5, $6)"
END = "select ingest.end_sync($1, $2, $3, $4, $5, $6, $7)"

SLICE_SECONDS = 300.0
"""After this time a sync lets others go first; it continues from its last checkpoint."""
MOST_ITEMS = 500
"""A batch is written after this many items even without a checkpoint; the cursor waits for the checkpoint."""
BUDGET_SECONDS = 900.0
QUOTA_SECONDS = 3_600.0
LONGEST_WAIT = 86_400.0


class Tokens(Protocol):
    """Gives the access token of a source, refreshed if need be."""

    async def access_token(self, tenant_id: TenantId, source_id: SourceId) -> str: ...
    async def reject(self, tenant_id: TenantId, source_id: SourceId, access_token: str) -> object: ...


class ClientTexts(Protocol):
    """Embeds what the sync changed of clients."""

    async def refresh(self, tenant_id: TenantId, source_id: SourceId) -> int: ...


class SliceOver(Exception):
    """The sync had its turn."""


@dataclass(slots=True)
class _Run:
    tenant_id: TenantId
    source_id: SourceId
    job: SyncJob
    provider: Provider
    access_token: str | None = field(repr=False)
    slice_ends: float
    checkpoints: int = 0
    embedded: int = 0

    @property
    def by_looks(self) -> bool:
        return isinstance(self.provider, LookProvider)


class Sync:
    """The handler of `sync-source`; one per worker, shared by its runs."""

    def __init__(
        self,
        *,
        tenants: TenantPool,
        settings: Settings,
        provider: Callable[[str], Provider],
        tokens: Tokens,
        passwords: Passwords,
        writer: ItemWriter,
        clients: ClientTexts,
        estimates: FirstSyncEstimate,
        slice_seconds: float = SLICE_SECONDS,
    ) -> None:
        self._tenants = tenants
        self._settings = settings
        self._provider = provider
        self._tokens = tokens
        self._passwords = passwords
        self._writer = writer
        self._clients = clients
        self._estimates = estimates
        self._slice_seconds = slice_seconds

    async def __call__(self, payload: SyncSource, run: TaskRun) -> Snooze | None:
        assert run.tenant_id is not None, "a sync's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            answer = json.loads(await conn.fetchval(BEGIN, payload.source_id, run.task_id))
        if answer["mode"] != "sync":
            return None
        job = SyncJob.model_validate(answer)
        log.info("sync_began", source_id=str(payload.source_id), kind=job.kind, full=job.is_full, run=job.run)
        going = _Run(
            tenant_id,
            payload.source_id,
            job,
            self._provider(job.kind),
            None,
            asyncio.get_running_loop().time() + self._slice_seconds,
        )
        try:
            await self._read_all(going)
            of_clients = await self._clients.refresh(tenant_id, going.source_id)
        except LeaseLost as replaced:
            # Paused, disconnected, or continued by another worker: nothing more may be written.
            log.info("sync_stopped", source_id=str(going.source_id), reason=replaced.message)
            return None
        except SliceOver:
            return Snooze(0)
        except Throttled as throttled:
            return await self._wait(going, throttled.code, throttled.message, throttled.retry_after)
        except OverBudget as over:
            needed = (
                f"it needs about {over.needed} tokens, but the tenant has {max(0, over.left)} left this month"
            )
            return await self._wait(going, "over_budget", needed, BUDGET_SECONDS)
        except QuotaExceeded as full:
            return await self._wait(going, "over_quota", full.message, QUOTA_SECONDS)
        except TokenRejected as rejected:
            return await self._token_rejected(going, run, rejected)
        except RefreshTokenInvalid as invalid:
            message = f"{invalid.code}: {invalid.reason}"
            await self._end(going, run, invalid.code, message, needs_user=True)
            return None
        except (AccessForbidden, LoginRejected) as forbidden:
            message = f"{forbidden.code}: {forbidden.message}"
            await self._end(going, run, forbidden.code, message, needs_user=True)
            return None
        except BindingMismatch as mismatch:
            message = f"{mismatch.code}: {mismatch.message}"
            await self._end(going, run, mismatch.code, message, needs_user=False)
            return None
        except Exception as error:
            if (again := await self._failed(going, run, error)) is not None:
                return again
            if run.attempt >= MAX_ATTEMPTS:
                return None
            raise
        async with run.transaction() as conn:
            await conn.execute(END, job.job_id, job.run, "completed", None, None, None, of_clients)
        log.info("sync_ended", source_id=str(going.source_id), embedded=going.embedded + of_clients)
        return None

    async def _read_all(self, going: _Run) -> None:
        job = going.job
        going.embedded += await self._writer.remap(going.tenant_id, going.source_id, job, going.provider.maps)
        if job.has_token and needs_grant(going.provider, self._settings):
            going.access_token = await self._tokens.access_token(going.tenant_id, going.source_id)
        password = None
        if job.password_id is not None:
            password = await self._passwords.open(
                going.tenant_id, job.password_id, going.provider, job.config
            )
        source = OpenSource(
            going.tenant_id,
            going.source_id,
            job.kind,
            job.account,
            job.config,
            self._settings,
            going.access_token,
            StoredMemory(self._tenants, going.tenant_id, going.source_id),
            password,
        )
        async with going.provider.open(source) as reader:
            if job.is_untouched:
                await self._estimates.check(going.tenant_id, job, reader, going.provider.maps)
            for stream in reader.streams:
                await self._read_stream(going, reader, stream)

    async def _read_stream(self, going: _Run, reader: Reader, stream: str) -> None:
        restarted = False
        while True:
            async with self._tenants.transaction(going.tenant_id) as conn:
                found = json.loads(await conn.fetchval(OPEN_STREAM, going.job.job_id, going.job.run, stream))
            if found["done"]:
                return
            cursor = Cursor(found["cursor"], found["is_full"], found["is_resumed"], found["is_first"])
            try:
                await self._read_pass(going, reader, stream, cursor)
            except CursorExpired:
                if restarted:
                    raise
                restarted = True
                log.info("stream_restarted", source_id=str(going.source_id), stream=stream)
                async with self._tenants.transaction(going.tenant_id) as conn:
                    await conn.execute(RESTART_STREAM, going.job.job_id, going.job.run, stream)
            else:
                return

    async def _read_pass(self, going: _Run, reader: Reader, stream: str, cursor: Cursor) -> None:
        """Read a page while the one before is being written; checkpoints commit in their order."""
        batch = Batch(stream)
        async with _closing(reader.read(stream, cursor)) as events, OneAhead() as writing:
            async for event in events:
                if not isinstance(event, Checkpoint):
                    batch.add(event)
                    if len(batch) >= MOST_ITEMS:
                        await writing.start(self._write(going, batch, None))
                        batch = Batch(stream)
                    continue
                if event.done:
                    await writing.start(self._write(going, batch, None))
                    await writing.finish()
                    # What a cap left out is not gone.
                    keeps = event.keeps_unseen or event.left_out > 0
                    if (cursor.is_full or event.is_complete) and not keeps:
                        await self._writer.remove_unseen(
                            going.tenant_id, going.source_id, going.job, stream, by_looks=going.by_looks
                        )
                    await self._writer.finish_stream(going.tenant_id, going.job, stream, event)
                    going.checkpoints += 1
                    return
                await writing.start(self._write(going, batch, event))
                batch = Batch(stream)
                if asyncio.get_running_loop().time() > going.slice_ends:
                    await writing.finish()
                    raise SliceOver
        raise ProviderUnavailable(going.provider.title, f"it ended {stream} before it was complete")

    async def _write(self, going: _Run, batch: Batch, checkpoint: Checkpoint | None) -> None:
        if len(batch) or checkpoint is not None:
            going.embedded += await self._writer.write(
                going.tenant_id,
                going.source_id,
                going.job,
                batch,
                going.provider.maps,
                checkpoint,
                by_looks=going.by_looks,
            )
        if checkpoint is not None:
            going.checkpoints += 1

    async def _wait(
        self, going: _Run, code: str, message: str, seconds: float, *, failed: bool = False
    ) -> Snooze:
        seconds = min(max(seconds, 0.0), LONGEST_WAIT)
        async with self._tenants.transaction(going.tenant_id) as conn:
            await conn.execute(WAIT, going.job.job_id, going.job.run, code, message, seconds, failed)
        log.info("sync_waits", source_id=str(going.source_id), code=code, seconds=round(seconds, 3))
        return Snooze(seconds)

    async def _token_rejected(self, going: _Run, run: TaskRun, rejected: TokenRejected) -> Snooze | None:
        """Get a new token and go on, at no charge; but a provider that rejects every token needs its user."""
        if going.job.last_code == rejected.code and going.checkpoints == 0:
            message = f"{rejected.code}: {rejected.message}, even a new one"
            await self._end(going, run, rejected.code, message, needs_user=True)
            return None
        if going.access_token is not None:
            await self._tokens.reject(going.tenant_id, going.source_id, going.access_token)
        return await self._wait(going, rejected.code, rejected.message, 0)

    async def _failed(self, going: _Run, run: TaskRun, error: Exception) -> Snooze | None:
        """Note the error. A run that got on does not use up an attempt; the last attempt ends the sync."""
        code = error.code if isinstance(error, SourceError) else type(error).__name__
        message = str(error) if isinstance(error, SourceError) else type(error).__name__
        log.warning("sync_failed", source_id=str(going.source_id), code=code, exc_info=error)
        if going.checkpoints > 0:
            return await self._wait(going, code, message, 5, failed=True)
        await self._wait(going, code, message, 2.0**run.attempt, failed=True)
        if run.attempt >= MAX_ATTEMPTS:
            await self._end(going, run, "max_retries_exceeded", "max_retries_exceeded", needs_user=False)
        return None

    async def _end(self, going: _Run, run: TaskRun, code: str, message: str, *, needs_user: bool) -> None:
        """Nothing is gained by another attempt: end the sync and its task in one transaction."""
        status = "error" if needs_user else "provider_error" if code == BindingMismatch.code else None
        async with run.transaction(counts_as="failed") as conn:
            await conn.execute(END, going.job.job_id, going.job.run, "failed", code, message, status, 0)
        log.warning("sync_failed", source_id=str(going.source_id), code=code)


@asynccontextmanager
async def _closing(events: AsyncIterator[SyncEvent]) -> AsyncIterator[AsyncIterator[SyncEvent]]:
    """Close the generator at once, so that its requests end with the run."""
    try:
        yield events
    finally:
        if hasattr(events, "aclose"):
            await events.aclose()
