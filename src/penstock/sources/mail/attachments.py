"""The bytes of attachments: fetched from the mailbox only when they are taken in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from penstock.errors import PenstockError
from penstock.net import ResponseRefused
from penstock.sources.responses import CallRejected


class AttachmentUnreadable(PenstockError):
    """One attachment cannot be read; `reason` is the provider's code, or ours."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(
            f"{provider} does not give the content of this attachment: {reason}", "Look at the mail there"
        )
        self.reason = reason
        self.args = (provider, reason)


@dataclass(frozen=True, slots=True)
class AttachmentContent:
    """An attachment at the provider. What it rejects fails alone: the mail may have been deleted since."""

    provider: str
    filename: str
    media_type: str | None
    fetch: Callable[[], AbstractAsyncContextManager[AsyncIterator[bytes]]] = field(repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[bytes]]:
        try:
            async with self.fetch() as parts:
                yield parts
        except CallRejected as rejected:
            raise AttachmentUnreadable(self.provider, rejected.error or f"http_{rejected.status}") from None
        except ResponseRefused:
            raise AttachmentUnreadable(self.provider, "file_too_large") from None


@dataclass(frozen=True, slots=True)
class TextContent:
    """A text as a file."""

    filename: str
    text: str = field(repr=False)
    media_type: str | None = "text/plain"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[bytes]]:
        yield self._parts()

    async def _parts(self) -> AsyncIterator[bytes]:
        yield self.text.encode("utf-8", "replace")


def named(name: str, ending: str) -> str:
    """A file name with this ending."""
    stem = name or "attachment"
    return stem if stem.lower().endswith(f".{ending}") else f"{stem}.{ending}"
