"""How long a statement of a call that only reads may take: a page that waits longer has no use for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

from penstock.db.tenancy import time_limited

if TYPE_CHECKING:
    from fastapi.routing import APIRoute

SECONDS: Final = 2.0
_READS: Final = frozenset({"GET", "HEAD"})
_POSTED: Final = frozenset({"previewOperation"})
"""Calls that only read although they are a POST."""
_UNLIMITED: Final = frozenset({"followChanges", "connectSource", "searchByAddress"})
"""One starts what lasts longer than a request, one writes; a search has time limits of its own."""


def time_limited_read() -> AbstractContextManager[None]:
    """Within it, a statement that takes longer than two seconds is stopped; the answer then says so."""
    return time_limited(SECONDS)


def limit_of(route: APIRoute, method: str) -> AbstractContextManager[None]:
    """The limit for the statements of this call; none if it changes something."""
    only_reads = (method in _READS and route.operation_id not in _UNLIMITED) or route.operation_id in _POSTED
    return time_limited_read() if only_reads else nullcontext()
