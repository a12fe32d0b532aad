"""Walks the pages of a method from a position on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.sources.bindings.page import RecordPage
from penstock.sources.reading.position import Position
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

EXPIRED: Final = (400, 404, 410)
"""What providers answer to a page token they no longer know."""


async def pages(
    calls: Calls, method: str, values: Mapping[str, Any], at: Position
) -> AsyncIterator[tuple[Position, RecordPage]]:
    """Each page with the position after it; the last one's `page` is None.

    A page token that is no longer known starts the pass again from its first page, once. The pass starts when
    its first page is read, by the provider's clock.
    """
    is_restarted = False
    while True:
        try:
            page = await calls.page(method, values, at.page)
        except CallRejected as rejected:
            if at.page is None or is_restarted or rejected.status not in EXPIRED:
                raise
            is_restarted = True
            at = at.moved(page=None, seen=0)
            continue
        expected = at.expected
        if at.page is None and page.total is not None and expected is None:
            expected = at.seen + page.total
        at = at.moved(
            started=at.started or page.server_time,
            page=page.next,
            seen=at.seen + len(page.records),
            expected=expected,
        )
        yield at, page
        if page.next is None:
            return
