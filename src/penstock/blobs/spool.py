"""Spools incoming content to memory or a temporary file while counting and hashing it."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from penstock.errors import SpoolFull, TooLarge

MEMORY_BYTES = 1_048_576
HEAD_BYTES = 65_536
_PIECE_BYTES = 262_144


class SpoolBudget:
    """Limits the bytes of uploads in progress, per process and per tenant."""

    def __init__(self, whole: int, per_tenant: int) -> None:
        self._whole = whole
        self._per_tenant = per_tenant
        self._held: dict[Hashable, int] = {}
        self.held = 0

    @contextmanager
    def share(self, tenant: Hashable, announced: int = 0) -> Iterator[Callable[[int], None]]:
        """Count the bytes of one body until the block ends. Raises SpoolFull.

        A body whose announced size does not fit is rejected before it is read.
        """
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            self._refuse_over(tenant, size)
            self.held += size
            self._held[tenant] = self._held.get(tenant, 0) + size
            mine += size

        self._refuse_over(tenant, announced)
        try:
            yield take
        finally:
            self.held -= mine
            left = self._held.get(tenant, 0) - mine
            if left > 0:
                self._held[tenant] = left
            else:
                self._held.pop(tenant, None)

    def _refuse_over(self, tenant: Hashable, more: int) -> None:
        if self._held.get(tenant, 0) + more > self._per_tenant:
            raise SpoolFull(self._per_tenant, "PENSTOCK_SPOOL_BYTES_PER_TENANT", of_tenant=True)
        if self.held + more > self._whole:
            raise SpoolFull(self._whole, "PENSTOCK_SPOOL_BYTES", of_tenant=False)


@dataclass(frozen=True, slots=True)
class Spooled:
    """The complete content; `path` is set if it was too large for memory."""

    sha256: bytes
    size: int
    head: bytes
    data: bytes | None
    path: Path | None

    def source(self) -> bytes | Path:
        """What to pass to the blob store."""
        if self.path is not None:
            return self.path
        assert self.data is not None
        return self.data

    async def pieces(self) -> AsyncIterator[bytes]:
        """The content in pieces."""
        if self.data is not None:
            for start in range(0, len(self.data), _PIECE_BYTES):
                yield self.data[start : start + _PIECE_BYTES]
            return
        assert self.path is not None
        with await asyncio.to_thread(self.path.open, "rb") as file:
            while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
                yield piece


@asynccontextmanager
async def spool(
    content: AsyncIterable[bytes],
    *,
    limit: int,
    folder: Path | None = None,
    take: Callable[[int], None] | None = None,
) -> AsyncIterator[Spooled]:
    """Read content up to `limit` bytes; the first byte beyond it raises TooLarge.

    `take` is a share of a SpoolBudget, called for every piece before it is stored.
    """
    digest = hashlib.sha256()
    memory = bytearray()
    file: IO[bytes] | None = None
    size = 0
    head = b""
    try:
        async for piece in content:
            size += len(piece)
            if size > limit:
                raise TooLarge(
                    f"the document is larger than the limit of {limit} bytes",
                    "file",
                    "Send a smaller file, or raise the tenant's max_upload_bytes.",
                )
            if take is not None:
                take(len(piece))
            digest.update(piece)
            if file is None:
                memory += piece
                if len(memory) > MEMORY_BYTES:
                    file = tempfile.NamedTemporaryFile(dir=folder, prefix="penstock-", suffix=".upload")  # noqa: SIM115  # closed below
                    file.write(memory)
                    head = bytes(memory[:HEAD_BYTES])
                    memory.clear()
            else:
                file.write(piece)
        if file is None:
            yield Spooled(digest.digest(), size, bytes(memory[:HEAD_BYTES]), bytes(memory), None)
        else:
            file.flush()
            yield Spooled(digest.digest(), size, head, None, Path(file.name))
    finally:
        if file is not None:
            file.close()
