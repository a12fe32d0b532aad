"""Hands files in, a few at a time, and follows what becomes of them; a worker inside if nobody else works."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from penstock.cli import output
from penstock.cli.failures import describe, warn
from penstock.cli.file_identity import identity_of, shown_path
from penstock.cli.following import Following
from penstock.cli.ingest_files import File
from penstock.cli.ingest_progress import Draw, stage_bar, stages
from penstock.cli.ingest_prune import Prune, find_gone, remove
from penstock.cli.ingest_summary import Handed, Summary
from penstock.cli.local_worker import working
from penstock.cli.product_session import Stay, stay
from penstock.errors import Refused
from penstock.intake import Taken
from penstock.model import IngestionStatus, TenantId

AT_ONCE = 4
"""Files handed in at a time: hashing and the disk take turns with the database."""
READ_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Labels:
    """What every file of the command line is taken in with."""

    project: str
    metadata: Mapping[str, str]
    external_id: str | None
    root_name: str | None = None
    retry_failed: bool = False


@dataclass(slots=True)
class IngestJob:
    files: Sequence[File]
    tenant: str
    labels: Labels
    wait: bool
    worker: bool | None
    quiet: bool
    prune: Prune | None = None
    handed: list[Handed] = field(default_factory=list)

    async def do(self) -> Summary:
        """Take all in and, if so asked, wait for them; interrupted, it says what stays in the queue."""
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        begun = monotonic()
        following: Following | None = None
        try:
            async with stay(create=True) as here:
                await here.require_index()  # or every document would wait for an administrator
                owner = await here.tenant(self.tenant, create=True)
                # An unknown project is refused before anything is read.
                await here.product.accounts.show_project(owner, self.labels.project)
                await here.declare()
                documents, project = here.product.documents, self.labels.project
                gone = [] if self.prune is None else await find_gone(self.prune, documents, owner, project)
                following = Following(documents, owner, project)
                with stage_bar(quiet=self.quiet) as draw:
                    await self._do(here, owner, following, draw)
                # Last, so that what was only renamed finds its embeddings in the cache.
                pruned = await remove(gone, here, owner)
        except asyncio.CancelledError:
            self._say_what_stays(following)
            raise
        return Summary(
            tuple(self.handed), following, tuple(pruned), waited=self.wait, seconds=monotonic() - begun
        )

    async def _do(self, here: Stay, owner: TenantId, following: Following, draw: Draw) -> None:
        if not self.wait:
            await self.hand_in(here, owner, following, draw)
            return

        def looked() -> None:
            ended = len(following.ended)
            draw(ended, ended + len(following.under_way), stages(following.counts()))

        async with working(here, self.worker) as local:
            await self.hand_in(here, owner, following, draw)
            await following.until_ended(looked, local.ensure)

    async def hand_in(self, here: Stay, owner: TenantId, following: Following, draw: Draw) -> None:
        """Take every file in, some at a time; what is refused is noted with its reason."""
        room = asyncio.Semaphore(AT_ONCE)

        async def one(file: File) -> Handed:
            async with room:
                handed = await self._one(here, owner, file)
            if handed.failed_before is not None:
                following.ended[handed.failed_before.document_id] = handed.failed_before
            elif handed.taken is not None and not handed.taken.skipped:
                following.add([handed.taken.document_id])
            self.handed.append(handed)
            draw(0, len(self.files), f"taken in {len(self.handed):,}")
            return handed

        # In the order of the command line, whichever was quicker.
        self.handed = list(await asyncio.gather(*(one(file) for file in self.files)))

    async def _one(self, here: Stay, owner: TenantId, file: File) -> Handed:
        if file.reason is not None:
            return Handed(file.path, reason=file.reason)
        try:
            taken = await self._take_in(here, owner, file)
            if taken.status is not IngestionStatus.FAILED:
                return Handed(file.path, taken)
            before = await here.product.documents.show(owner, taken.document_id)
            return Handed(file.path, taken, failed_before=before)
        except OSError as error:
            return Handed(file.path, reason=error.strerror or str(error))
        except Refused as error:
            return Handed(file.path, reason=describe(error).line())

    async def _take_in(self, here: Stay, owner: TenantId, file: File) -> Taken:
        labels = self.labels
        noted = {"path": shown_path(file.path)}
        if file.root is not None:
            noted["root"] = shown_path(file.root)
        return await here.product.intake.take_in(
            owner,
            _pieces(file.path),
            project=labels.project,
            filename=os.fsencode(file.path.name).decode("utf-8", "backslashreplace"),
            uploaded_by="cli",
            source_metadata=noted,
            metadata=labels.metadata or None,
            external_id=labels.external_id or identity_of(file.path, file.root, labels.root_name),
            retry_failed=labels.retry_failed,
        )

    def _say_what_stays(self, following: Following | None) -> None:
        accepted = sum(each.taken is not None for each in self.handed)
        if following is None or not accepted:
            warn("Interrupted: nothing was taken in.")
            return
        left = len(following.under_way)
        warn(
            f"Interrupted: {accepted} of {output.count(len(self.files), 'file')}"
            f" {'is' if accepted == 1 else 'are'} accepted;"
            f" {output.count(left, 'document')} {'stays' if left == 1 else 'stay'} in the queue"
            " for the next worker: penstock up, or penstock worker."
        )


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, READ_BYTES):
            yield piece
