"""Reads the threads of a Gmail mailbox."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.errors import CursorExpired
from penstock.sources.gmail.records import item_of
from penstock.sources.protocol import Cursor, Failed, Gone, Item, SyncEvent
from penstock.sources.reading.paging import EXPIRED, pages
from penstock.sources.reading.position import Position
from penstock.sources.reading.records import RecordUnusable, failed_record
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

PROVIDER: Final = "Gmail"
OVERLAP: Final = timedelta(hours=1)
"""A mail's date is set by its sender's side and may be earlier than its arrival."""
_CHANGES: Final = ("messagesAdded", "messagesDeleted", "labelsAdded", "labelsRemoved")
_MATTERS: Final = frozenset({"TRASH", "SPAM", "DRAFT"})


class GmailReader:
    """A full pass lists threads, the most recent first, up to `most`; a delta reads the history.

    Without a history, a delta searches by date and does not see deletions.
    """

    streams: Sequence[str] = ("threads",)

    def __init__(self, calls: Calls, *, most: int) -> None:
        self._calls = calls
        self._most = most

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        at = Position.begin(PROVIDER, stream, cursor, "delta", "list")
        if at.phase == "list" and at.page is None and self._calls.has("gmail.profile"):
            # Before the list: what arrives meanwhile is in the history after this id.
            profile = await self._calls.page("gmail.profile")
            total = profile.values["total"]
            if isinstance(total, int):
                at = at.moved(total=total, expected=min(total, self._most))
            at = at.moved(next_token=profile.values["token"])
        reading = self._listed(at) if at.phase == "list" or at.token is None else self._changed(at)
        async for event in reading:
            yield event

    async def _listed(self, begun: Position) -> AsyncIterator[SyncEvent]:
        """All threads up to the cap; in a delta those with mails since the last pass."""
        since = None if begun.since is None else f"after:{int(begun.since.timestamp())}"
        most = self._most if begun.phase == "list" else sys.maxsize
        at = begun
        async for at, page in pages(self._calls, "gmail.threads.list", {"query": since}, begun):
            room = max(0, most - (at.seen - len(page.records)))
            for record in page.records[:room]:
                async for event in self._thread(record.get("id") if isinstance(record, dict) else None):
                    yield event
            if at.seen >= most and (at.page is not None or at.seen > most):
                at = at.moved(left_out=max(1, at.seen - most, (at.total or 0) - most))
                break
            if at.page is not None:
                yield at.checkpoint()
        yield at.done(OVERLAP)

    async def _changed(self, at: Position) -> AsyncIterator[SyncEvent]:
        while True:
            try:
                page = await self._calls.page("gmail.history.list", {"token": at.token}, at.page)
            except CallRejected as rejected:
                if rejected.status in EXPIRED:
                    raise CursorExpired(PROVIDER, "threads") from None
                raise
            for thread_id in _threads(page.records):
                async for event in self._thread(thread_id):
                    yield event
            # The first page's id: what happens between the pages is read again by the next pass.
            token = at.next_token or page.values["token"] or at.token
            at = at.moved(page=page.next, next_token=token, seen=at.seen + len(page.records))
            if page.next is None:
                yield at.done()
                return
            yield at.checkpoint()

    async def _thread(self, thread_id: Any) -> AsyncIterator[Item | Gone | Failed]:
        if not isinstance(thread_id, str) or not thread_id:
            yield Failed(id=None, code="record_unusable", message="id is missing", path="id")
            return
        try:
            page = await self._calls.page("gmail.threads.get", {"id": thread_id})
        except CallRejected as rejected:
            if rejected.status == 404:
                yield Gone(thread_id)
            else:
                yield Failed(id=thread_id, code=rejected.error or "call_rejected", message=rejected.message)
            return
        try:
            # In a thread: a thread of many long mails takes seconds, and the loop must not wait for it.
            item = await asyncio.to_thread(item_of, page.records[0] if page.records else {})
        except RecordUnusable as wrong:
            yield failed_record({"id": thread_id}, wrong)
            return
        yield Gone(thread_id) if item is None else item


def _threads(history: Sequence[Any]) -> Sequence[str]:
    """The threads of mails that arrived, went, or moved to or from the bin, each once."""
    found: dict[str, None] = {}
    for entry in history:
        for kind in _CHANGES:
            for change in (entry.get(kind) or ()) if isinstance(entry, dict) else ():
                labels = change.get("labelIds") or ()
                if kind.startswith("labels") and not _MATTERS.intersection(labels):
                    continue
                if thread_id := (change.get("message") or {}).get("threadId"):
                    found[str(thread_id)] = None
    return list(found)
