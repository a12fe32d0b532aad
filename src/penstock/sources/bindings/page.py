"""One page of records, and where the next one starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.sources.bindings.binding import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """`next` is None on the last page; `total` is how many records matched, if the server says so."""

    records: Sequence[Any] = field(repr=False)
    next: Any
    total: int | None
    values: Mapping[str, Any]
    server_time: datetime


class NotAPage(ValueError):
    """The answer has no records where the binding expects them."""


def page_of(method: Method, answer: Any, cursor: Any, server_time: datetime) -> RecordPage:
    """Read an answer by the method's paths; NotAPage if it does not have their shape."""
    records = records_of(method, answer)
    total = method.paging.total.find(answer) if method.paging.total else None
    total = total if isinstance(total, int) else None
    return RecordPage(
        records=records,
        next=_next(method, answer, records, cursor, total),
        total=total,
        values={name: path.find(answer) for name, path in method.values.items()},
        server_time=server_time,
    )


def records_of(method: Method, answer: Any) -> Sequence[Any]:
    if method.records is None:
        if not isinstance(answer, dict):
            raise NotAPage
        return []
    found = method.records.find(answer)
    if found is None and isinstance(answer, dict):
        return []  # vendors leave an empty list out
    if isinstance(found, dict):
        return [found]
    if not isinstance(found, list):
        raise NotAPage
    return found


def start_of(method: Method, cursor: Any) -> Any:
    """What the placeholder {cursor} stands for."""
    if cursor is None and method.paging.rule in ("offset", "page_full"):
        return method.paging.first
    return cursor


def _next(method: Method, answer: Any, records: Sequence[Any], cursor: Any, total: int | None) -> Any:
    paging = method.paging
    match paging.rule:
        case "cursor":
            assert paging.next is not None
            return paging.next.find(answer) or None
        case "offset":
            read = start_of(method, cursor) - paging.first + len(records)
            return read + paging.first if records and (total is None or read < total) else None
        case "page_full":
            is_full = len(records) >= method.page_size
            return start_of(method, cursor) + len(records) - paging.overlap if is_full else None
        case "keyset":
            assert paging.next is not None
            more = len(records) >= method.page_size or (total is not None and total > len(records) > 0)
            return paging.next.find(answer) if more else None
        case "none":
            return None
