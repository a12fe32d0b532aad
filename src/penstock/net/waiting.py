"""Reads how long a response asks us to wait."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST_WAIT: Final = 3_600.0
"""An upper bound: a header must not delay work for days."""
_LONGEST_TEXT: Final = 100
"""A valid number or date is shorter than this; anything longer is ignored."""


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait by Retry-After (a number or an HTTP date) or retry-after-ms; None without either."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return _bounded(milliseconds / 1_000)
    text = headers.get("retry-after")
    if text is None or len(text) > _LONGEST_TEXT:
        return None
    if (seconds := _number(text)) is not None:
        return _bounded(seconds)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:  # "-0000" means UTC with an unknown local zone
        at = at.replace(tzinfo=UTC)
    return _bounded((at - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    if text is not None and len(text) > _LONGEST_TEXT:
        return None
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_WAIT)
