"""Content on its way in: counted and hashed while it streams, kept in memory or in a temporary file."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from penstock.errors import TooLarge

MEMORY_BYTES = 1_048_576
HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Spooled:
    """All of the content, once; `path` while it is too large for memory."""

    sha256: bytes
    size: int
    head: bytes
    data: bytes | None
    path: Path | None

    def source(self) -> bytes | Path:
        """What the blob store is given."""
        if self.path is not None:
            return self.path
        assert self.data is not None
        return self.data


@asynccontextmanager
async def spool(
    content: AsyncIterable[bytes], *, limit: int, folder: Path | None = None
) -> AsyncIterator[Spooled]:
    """Take content in up to `limit` bytes; the one byte too many raises TooLarge at once."""
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
                    f"the document is over the limit of {limit} bytes",
                    "file",
                    "Send a smaller file, or raise the tenant's max_upload_bytes.",
                )
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
