"""Draws pages of PDFs in the sandbox, one at a time in a process, and remembers what was drawn last."""

from __future__ import annotations

import asyncio
import tempfile
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from penstock.errors import NotFound
from penstock.pipeline.reasons import Reason, rejected
from penstock.sandbox import (
    InputFile,
    OutputFile,
    Sandbox,
    SandboxCrashed,
    SandboxFilesTooLarge,
    SandboxOutOfMemory,
    SandboxOutputTooLarge,
    SandboxRaised,
    SandboxTimeout,
)
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.blobs.store import Blobs

PRELOAD: Final = ("penstock.pipeline.parse.page_image",)
SHARE: Final = 6
"""Somebody waits for a picture: it may take this part of PENSTOCK_PARSE_SECONDS, 20 s by default."""
SLOW_REMEDY: Final = "Raise PENSTOCK_PARSE_SECONDS, of which a picture may take a sixth, or split the file"
MEMORY_REMEDY: Final = "Raise PENSTOCK_PARSE_MEMORY_MB, or split the file"
KEPT_BYTES: Final = 64_000_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Original:
    """Where a document's file is, and what identifies its content."""

    owner: str
    blob_path: str
    content_sha256: str


class PageImages:
    """One child process, started with the first page; tenants take turns. Two requests for one page that is
    being drawn wait for the same drawing."""

    def __init__(
        self, settings: Settings, blobs: Callable[[], Blobs], *, kept_bytes: int = KEPT_BYTES
    ) -> None:
        self._settings = settings
        self._blobs = blobs
        self._kept_bytes = kept_bytes
        self._seconds = settings.parse_seconds / SHARE
        self._kept: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._sizes: OrderedDict[tuple[str, ...], list[tuple[float, float]]] = OrderedDict()
        self._drawing: dict[tuple[str, ...], asyncio.Task[bytes]] = {}
        self._sandbox: Sandbox | None = None
        self._starting = asyncio.Lock()

    async def close(self) -> None:
        for task in tuple(self._drawing.values()):
            task.cancel()
        await asyncio.gather(*self._drawing.values(), return_exceptions=True)
        if self._sandbox is not None:
            await self._sandbox.close()

    async def sizes(self, original: Original) -> Sequence[tuple[float, float]]:
        """Width and height of each page in points."""
        from penstock.pipeline.parse.page_image import measure_pages

        key = (original.owner, original.content_sha256)
        if key not in self._sizes:
            found = await self._with_file(
                original,
                lambda sandbox, path: sandbox.run(
                    measure_pages, InputFile(path), seconds=self._seconds, owner=original.owner
                ),
            )
            self._sizes[key] = found
            while len(self._sizes) > 200:
                self._sizes.popitem(last=False)
        return self._sizes[key]

    async def page(self, original: Original, number: int, width: int) -> bytes:
        """A page as a PNG; raises DocumentRejected for a file that cannot be drawn, NotFound for no page."""
        key = (original.owner, original.content_sha256, str(number), str(width))
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._drawing:
            task = asyncio.create_task(self._draw(original, number, width, key))
            self._drawing[key] = task
            task.add_done_callback(lambda _: self._drawing.pop(key, None))
        # Shielded: one reader that goes away must not take the picture from the others.
        return await asyncio.shield(self._drawing[key])

    async def _draw(self, original: Original, number: int, width: int, key: tuple[str, ...]) -> bytes:
        from penstock.pipeline.parse.page_image import draw_page

        async def draw(sandbox: Sandbox, path: Path) -> bytes:
            image = path.with_name("page.png")
            drawn = await sandbox.run(
                draw_page,
                InputFile(path),
                OutputFile(image),
                number,
                width,
                seconds=self._seconds,
                file_mb=64,
                owner=original.owner,
            )
            if not drawn:
                raise NotFound(f"the document has no page {number}", "page", "List its pages")
            return await asyncio.to_thread(image.read_bytes)

        drawn = await self._with_file(original, draw)
        self._kept[key] = drawn
        while sum(map(len, self._kept.values())) > self._kept_bytes:
            self._kept.popitem(last=False)
        return drawn

    async def _with_file(self, original: Original, work: Callable[[Sandbox, Path], Awaitable[T]]) -> T:
        sandbox = await self._started()
        async with AsyncExitStack() as stack:
            folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="penstock-page-")
            stack.push_async_callback(asyncio.to_thread, folder.cleanup)
            path = Path(folder.name) / "document"
            await self._blobs().fetch(original.blob_path, path)
            try:
                return await work(sandbox, path)
            except SandboxTimeout as error:
                raise rejected(
                    Reason.TIMEOUT, f"drawing takes longer than {self._seconds:g} s", SLOW_REMEDY
                ) from error
            except SandboxOutOfMemory as error:
                raise rejected(Reason.OOM, "drawing needs too much memory", MEMORY_REMEDY) from error
            except (SandboxOutputTooLarge, SandboxFilesTooLarge) as error:
                raise rejected(
                    Reason.OUTPUT_TOO_LARGE, "the picture is too large", "Ask for a smaller width"
                ) from error
            except (SandboxCrashed, SandboxRaised) as error:
                raise rejected(Reason.CRASH, f"drawing failed on the file: {error.message}") from error

    async def _started(self) -> Sandbox:
        async with self._starting:
            if self._sandbox is None:
                sandbox = Sandbox(1, memory_mb=self._settings.parse_memory_mb, preload=PRELOAD)
                await sandbox.start()
                self._sandbox = sandbox
            return self._sandbox
