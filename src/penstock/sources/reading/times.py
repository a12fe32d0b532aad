"""Times as the providers write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def parse_time(value: Any) -> datetime | None:
    """A time in ISO 8601 or in milliseconds since 1970; None if it is neither."""
    try:
        if isinstance(value, int) or (isinstance(value, str) and value.lstrip("-").isdigit()):
            return datetime.fromtimestamp(int(value) / 1_000, UTC)
        parsed = datetime.fromisoformat(value)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def iso(moment: datetime | None) -> str | None:
    """A time as HubSpot and Google write it: 2026-10-02T08:15:30.120Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
