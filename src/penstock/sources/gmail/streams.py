"""The streams of a Gmail source: threads, mails, or both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from penstock.sources.protocol import Cursor, Reader, SyncEvent

if TYPE_CHECKING:
    from penstock.sources.gmail.reader import GmailReader
    from penstock.sources.mail.reader import MailReader


class GmailStreams:
    """Each stream is read by the reader that has it."""

    def __init__(self, threads: GmailReader | None, mails: MailReader | None) -> None:
        readers: list[Reader] = [each for each in (threads, mails) if each is not None]
        self._readers = {stream: reader for reader in readers for stream in reader.streams}

    @property
    def streams(self) -> Sequence[str]:
        return tuple(self._readers)

    def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        return self._readers[stream].read(stream, cursor)
