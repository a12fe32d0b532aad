"""Reads the customers and invoices of QuickBooks Online."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.errors import CursorExpired
from penstock.sources.protocol import Cursor, Gone, Item, SyncEvent
from penstock.sources.reading.paging import pages
from penstock.sources.reading.position import Position
from penstock.sources.reading.records import items_of, required_text
from penstock.sources.reading.times import iso, parse_time

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

PROVIDER: Final = "QuickBooks"
STREAMS: Final = ("customers", "invoices")
DOCUMENT_TYPES: Final = {"customers": "quickbooks.customer", "invoices": "quickbooks.invoice"}
OVERLAP: Final = timedelta(minutes=5)
OLDEST_CAPTURE: Final = timedelta(days=29)
"""Change data capture knows 30 days."""
MOST_CAPTURED: Final = 1_000
"""A response with this many changes may have left some out."""


class QuickBooksReader:
    """A full pass queries everything; a delta asks change data capture, which has its limits.

    A server without change data capture is searched by time, which does not show deletions.
    """

    streams: Sequence[str] = STREAMS

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        at = Position.begin(PROVIDER, stream, cursor, "changed", "list")
        method = f"quickbooks.{stream}"
        make = partial(item_of, stream)
        if at.phase == "changed" and self._calls.has(f"{method}.captured"):
            async for event in self._captured(method, stream, at):
                yield event
            return
        if at.phase == "list" and at.page is None and self._calls.has(f"{method}.count"):
            count = (await self._calls.page(f"{method}.count")).values["count"]
            at = at.moved(expected=count if isinstance(count, int) else None)
        begun, values = at, {"since": iso(at.since)}
        async for at, page in pages(self._calls, f"{method}.{begun.phase}", values, begun):
            for event in items_of(page.records, make):
                yield event
            if at.page is not None:
                yield at.checkpoint()
        yield at.done(OVERLAP)

    async def _captured(self, method: str, stream: str, at: Position) -> AsyncIterator[SyncEvent]:
        assert at.since is not None, "a delta starts from a time"
        if datetime.now(UTC) - at.since > OLDEST_CAPTURE:
            raise CursorExpired(PROVIDER, stream)
        page = await self._calls.page(f"{method}.captured", {"since": iso(at.since)})
        if len(page.records) >= MOST_CAPTURED:
            raise CursorExpired(PROVIDER, stream)
        kept = []
        for record in page.records:
            if isinstance(record, dict) and record.get("status") == "Deleted":
                yield Gone(str(record.get("Id")))
            else:
                kept.append(record)
        for event in items_of(kept, partial(item_of, stream)):
            yield event
        yield at.moved(started=page.server_time, seen=len(page.records), expected=len(page.records)).done(
            OVERLAP
        )


def item_of(stream: str, record: Mapping[str, Any]) -> Item:
    """A customer or an invoice; its version is its sync token, which every change raises."""
    entity_id = required_text(record, "Id")
    times = record.get("MetaData")
    times = times if isinstance(times, Mapping) else {}
    changed = times.get("LastUpdatedTime")
    return Item(
        id=entity_id,
        document_type=DOCUMENT_TYPES[stream],
        payload=dict(record),
        version=f"{record.get('SyncToken')}:{changed}",
        created_at=parse_time(times.get("CreateTime")),
        updated_at=parse_time(changed),
    )
