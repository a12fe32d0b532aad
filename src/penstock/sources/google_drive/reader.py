"""Reads the files of Google Drive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.errors import CursorExpired
from penstock.sources.google_drive.contents import DriveContent, FileUnreadable, exported_text
from penstock.sources.google_drive.records import (
    EXPORTS,
    GOOGLE,
    SKIPPED,
    file_of,
    size_of,
    version_of,
)
from penstock.sources.protocol import Cursor, Failed, Gone, Item, SyncEvent
from penstock.sources.reading.paging import EXPIRED, pages
from penstock.sources.reading.position import Position
from penstock.sources.reading.records import RecordUnusable, failed_record
from penstock.sources.reading.times import iso, parse_time
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

PROVIDER: Final = "Google Drive"
OVERLAP: Final = timedelta(minutes=5)
MOST_COUNTED: Final = 1_000
"""How far a pass looks beyond its cap to count what it leaves out."""


class DriveReader:
    """A full pass lists the files, the most recent first, up to `most`; a delta reads the feed of changes.

    Without that feed, a delta searches by time and does not see deletions.
    """

    streams: Sequence[str] = ("files",)

    def __init__(self, calls: Calls, *, most: int, largest: int) -> None:
        self._calls = calls
        self._most = most
        self._largest = largest

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        at = Position.begin(PROVIDER, stream, cursor, "delta", "list")
        if at.phase == "list" and at.page is None and self._calls.has("drive.changes.start"):
            # Before the list: what changes meanwhile is in the feed after this token.
            start = await self._calls.page("drive.changes.start")
            at = at.moved(next_token=start.values["token"])
        if at.phase == "list":
            reading = self._listed(at)
        elif at.token is not None:
            reading = self._changed(at)
        else:
            reading = self._searched(at)
        async for event in reading:
            yield event

    async def _listed(self, begun: Position) -> AsyncIterator[SyncEvent]:
        at, is_incomplete = begun, False
        async for at, page in pages(self._calls, "drive.files.list", {}, begun):
            room = max(0, self._most - (at.seen - len(page.records)))
            for record in page.records[:room]:
                if not _is_skipped(record):
                    yield await self._event(record)
            if page.values.get("incomplete") and not is_incomplete:
                is_incomplete = True
                yield Failed(id=None, code="incomplete_search", message="Google Drive did not list all files")
            # What an incomplete list lacks may still exist: it counts as left out, not as gone.
            at = at.moved(left_out=max(0, at.seen - self._most) + is_incomplete)
            if at.page is None or at.seen > self._most + MOST_COUNTED:
                break
            yield at.checkpoint()
        yield at.moved(expected=min(at.seen, self._most)).done(OVERLAP)

    async def _changed(self, at: Position) -> AsyncIterator[SyncEvent]:
        cursor = at.page if at.page is not None else at.token
        while True:
            try:
                page = await self._calls.page("drive.changes.list", {}, cursor)
            except CallRejected as rejected:
                if rejected.status in EXPIRED:
                    raise CursorExpired(PROVIDER, "files") from None
                raise
            for change in page.records:
                if isinstance(change, dict) and change.get("changeType", "file") == "file":
                    async for event in self._change(change):
                        yield event
            cursor = page.next
            at = at.moved(page=cursor, seen=at.seen + len(page.records))
            if cursor is None:
                yield at.moved(next_token=page.values["token"] or at.token).done()
                return
            yield at.checkpoint()

    async def _change(self, change: Any) -> AsyncIterator[SyncEvent]:
        file = change.get("file")
        if change.get("removed") or (isinstance(file, dict) and file.get("trashed")):
            yield Gone(str(change.get("fileId")))
        elif file is not None and not _is_skipped(file):
            yield await self._event(file)

    async def _searched(self, begun: Position) -> AsyncIterator[SyncEvent]:
        at = begun
        async for at, page in pages(self._calls, "drive.files.changed", {"since": iso(begun.since)}, begun):
            for record in page.records:
                if not _is_skipped(record):
                    yield await self._event(record)
            if at.page is not None:
                yield at.checkpoint()
        yield at.done(OVERLAP)

    async def _event(self, record: Any) -> Item | Failed:
        try:
            return await self._item(file_of(record))
        except RecordUnusable as wrong:
            return failed_record(record, wrong)
        except FileUnreadable as failed:
            return Failed(id=str(record["id"]), code=failed.reason, message=failed.message)

    async def _item(self, file: dict[str, Any]) -> Item:
        kind = file["mimeType"]
        content = None
        document_type = "google_drive.file"
        if kind in EXPORTS:
            media_type, document_type = EXPORTS[kind]
            file["exported_text"] = await exported_text(self._calls, file["id"], media_type)
        elif not kind.startswith(GOOGLE):  # forms, maps and the like have no content to read
            if (size_of(file) or 0) > self._largest:
                raise FileUnreadable("file_too_large")
            content = DriveContent(self._calls, file["id"], file["name"], kind)
        return Item(
            id=file["id"],
            document_type=document_type,
            payload=file,
            version=version_of(file),
            created_at=parse_time(file.get("createdTime")),
            updated_at=parse_time(file.get("modifiedTime")),
            content=content,
        )


def _is_skipped(record: Any) -> bool:
    return isinstance(record, dict) and record.get("mimeType") in SKIPPED
