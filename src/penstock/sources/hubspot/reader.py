"""Reads HubSpot's companies, contacts and deals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.hubspot.records import PROPERTIES, STREAMS, item_of
from penstock.sources.protocol import Cursor, Gone, SyncEvent
from penstock.sources.reading.paging import pages
from penstock.sources.reading.position import Position
from penstock.sources.reading.records import items_of
from penstock.sources.reading.times import iso, parse_time

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

OVERLAP: Final = timedelta(minutes=10)
"""HubSpot's search finds a change some time after it was made."""
PROVIDER: Final = "HubSpot"


class HubSpotReader:
    """A full pass lists everything; a delta searches for changes, then lists what was archived since."""

    streams: Sequence[str] = STREAMS

    def __init__(self, calls: Calls, more_properties: Mapping[str, Sequence[str]]) -> None:
        self._calls = calls
        self._more = more_properties

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        at = Position.begin(PROVIDER, stream, cursor, "changed", "list")
        values: dict[str, Any] = {
            "properties": list(dict.fromkeys((*PROPERTIES[stream], *self._more.get(stream, ())))),
            "associations": None if stream == "companies" else ["companies"],
            "since": iso(at.since),
            "since_ms": None if at.since is None else str(int(at.since.timestamp() * 1_000)),
        }
        method = f"hubspot.crm.{stream}"
        if at.phase in ("list", "changed"):
            begun = at
            async for at, page in pages(self._calls, f"{method}.{begun.phase}", values, begun):
                for event in items_of(page.records, partial(item_of, stream)):
                    yield event
                if at.page is not None:
                    yield at.checkpoint()
            if at.phase == "changed" and self._calls.has(f"{method}.archived"):
                at = at.moved(phase="archived", page=None)
                yield at.checkpoint()
        if at.phase == "archived":
            begun = at
            async for at, page in pages(self._calls, f"{method}.archived", values, begun):
                for record in page.records:
                    if isinstance(record, dict) and "id" in record and _is_since(record, at.since):
                        yield Gone(str(record["id"]))
                if at.page is not None:
                    yield at.checkpoint()
        yield at.done(OVERLAP)


def _is_since(record: Mapping[str, Any], since: datetime | None) -> bool:
    """Whether an object was archived since then; also if it does not say when."""
    archived = parse_time(record.get("archivedAt"))
    return since is None or archived is None or archived >= since
