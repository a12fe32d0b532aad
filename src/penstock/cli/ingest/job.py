"""Submits files, a few at a time, and follows their documents; runs a worker if there is no other."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from penstock.cli import output
from penstock.cli.failures import describe, warn
from penstock.cli.ingest.progress import Draw, stage_bar, stages
from penstock.cli.ingest.prune import Prune, find_gone, remove
from penstock.cli.ingest.summary import Submitted, Summary
from penstock.cli.tenant_session import DEFAULT, TenantSession, tenant_session
from penstock.documents.file_intake import Labels, take_file
from penstock.documents.files import File
from penstock.documents.progress import IngestProgress
from penstock.engine.local_worker import working
from penstock.errors import NotFound, Refused
from penstock.model import IngestionStatus, TenantId

AT_ONCE = 4
"""Files submitted at a time, so that hashing and disk reads overlap with database calls."""


@dataclass(slots=True)
class IngestJob:
    files: Sequence[File]
    tenant: str
    labels: Labels
    wait: bool
    worker: bool | None
    quiet: bool
    prune: Prune | None = None
    submitted: list[Submitted] = field(default_factory=list)

    async def do(self) -> Summary:
        """Submit all files and, if asked to, wait for their documents; if interrupted, say what is still
        queued."""
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        begun = monotonic()
        following: IngestProgress | None = None
        try:
            async with tenant_session(create=True) as session:
                await session.require_index()  # or every document would wait for an administrator
                owner = await self._owner(session)
                if owner is None:
                    self.submitted = [Submitted(file.path, reason=file.reason) for file in self.files]
                    return Summary(tuple(self.submitted), None, (), waited=self.wait, seconds=0.0)
                # Rejects an unknown project before any file is read.
                await session.engine.accounts.show_project(owner, self.labels.project)
                await session.declare()
                documents, project = session.engine.documents, self.labels.project
                gone = [] if self.prune is None else await find_gone(self.prune, documents, owner, project)
                following = IngestProgress(documents, owner, project)
                with stage_bar(quiet=self.quiet) as draw:
                    await self._do(session, owner, following, draw)
                # Last, so that renamed files find their embeddings in the cache.
                if gone:
                    await session.tenant(self.tenant, change="ingest --prune", target=self.labels.project)
                pruned = await remove(gone, session, owner)
        except asyncio.CancelledError:
            self._say_what_stays(following)
            raise
        return Summary(
            tuple(self.submitted), following, tuple(pruned), waited=self.wait, seconds=monotonic() - begun
        )

    async def _owner(self, session: TenantSession) -> TenantId | None:
        """The tenant; None if there is none yet and no file that would be its first document."""
        is_readable = any(file.reason is None for file in self.files)
        try:
            return await session.tenant(self.tenant, create=is_readable, project=self.labels.project)
        except NotFound:
            if is_readable or self.prune is not None or self.tenant != DEFAULT:
                raise
            return None

    async def _do(
        self, session: TenantSession, owner: TenantId, following: IngestProgress, draw: Draw
    ) -> None:
        if not self.wait:
            await self.submit(session, owner, following, draw)
            return

        def looked() -> None:
            ended = len(following.ended)
            draw(ended, ended + len(following.under_way), stages(following.counts()))

        async with working(session.local_worker(self.worker)) as local:
            await self.submit(session, owner, following, draw)
            await following.until_ended(looked, local.ensure)

    async def submit(
        self, session: TenantSession, owner: TenantId, following: IngestProgress, draw: Draw
    ) -> None:
        """Submit every file, some at a time; a rejected file is recorded with the reason."""
        room = asyncio.Semaphore(AT_ONCE)

        async def one(file: File) -> Submitted:
            async with room:
                submitted = await self._one(session, owner, file)
            if submitted.failed_before is not None:
                following.ended[submitted.failed_before.document_id] = submitted.failed_before
            elif submitted.taken is not None and not submitted.taken.skipped:
                following.add([submitted.taken.document_id])
            self.submitted.append(submitted)
            draw(0, len(self.files), f"submitted {len(self.submitted):,}")
            return submitted

        # In the order of the command line, whichever finished first.
        self.submitted = list(await asyncio.gather(*(one(file) for file in self.files)))

    async def _one(self, session: TenantSession, owner: TenantId, file: File) -> Submitted:
        if file.reason is not None:
            return Submitted(file.path, reason=file.reason)
        try:
            taken = await take_file(session.engine.intake, owner, file, self.labels, "cli")
            if taken.status is not IngestionStatus.FAILED:
                return Submitted(file.path, taken)
            before = await session.engine.documents.show(owner, taken.document_id)
            return Submitted(file.path, taken, failed_before=before)
        except OSError as error:
            return Submitted(file.path, reason=error.strerror or str(error))
        except Refused as error:
            return Submitted(file.path, reason=describe(error).line())

    def _say_what_stays(self, following: IngestProgress | None) -> None:
        accepted = sum(each.taken is not None for each in self.submitted)
        if following is None or not accepted:
            warn("Interrupted: no file was accepted.")
            return
        left = len(following.under_way)
        warn(
            f"Interrupted: {accepted} of {output.count(len(self.files), 'file')} accepted; "
            f"{output.count(left, 'document')} still queued. To process the queue, run penstock up "
            "or penstock worker."
        )
