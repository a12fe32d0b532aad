"""Which documents a list shows, and where its next page begins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from penstock.errors import InvalidArgument

DocumentOrder = Literal["newest", "oldest", "updated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """All that is given must match. Several values are separated by commas; one after a ! is excluded."""

    project: str | None = None
    status: str | None = None
    source_id: str | None = None
    mime_type: str | None = None
    reason: str | None = None
    fingerprint: str | None = None
    """Of the error message, as groups of failures have it."""
    since: datetime | None = None
    """Only documents that changed at this time or later."""
    title: str | None = None
    """Part of the title or file name."""
    q: str | None = None
    """Part of the title, file name, path or external id."""

    def as_json(self) -> str:
        """As ingest.document_where() reads it."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return json.dumps({name: value for name, value in given.items() if value}, default=str)


def write_cursor(following: Mapping[str, Any] | None) -> str | None:
    """Where the next page begins: the last document, and when it last changed."""
    return None if following is None else f"{following['id']}~{following['at']}"


def read_cursor(cursor: str | None) -> tuple[UUID | None, datetime | None]:
    if cursor is None:
        return None, None
    document_id, _, at = cursor.partition("~")
    try:
        return UUID(document_id), datetime.fromisoformat(at) if at else None
    except ValueError:
        raise bad_cursor() from None


def bad_cursor() -> InvalidArgument:
    return InvalidArgument("the cursor is invalid", "cursor", "Use that of the previous page, or omit it.")
