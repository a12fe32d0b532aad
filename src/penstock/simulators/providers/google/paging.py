"""Google's page tokens: opaque, tied to the query, and expired after some hours."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from penstock.simulators.providers.google.errors import GoogleRefused, bad_page_token

VALID: Final = timedelta(hours=6)


def make_token(offset: int, query: Mapping[str, Any], now: datetime) -> str:
    content = [offset, _digest(query), int(now.timestamp())]
    return "~!!~" + base64.urlsafe_b64encode(json.dumps(content).encode()).decode()


def read_token(token: str | None, query: Mapping[str, Any], now: datetime) -> int:
    """The offset; GoogleRefused if the token is not one of ours, of another query, or too old."""
    if not token:
        return 0
    try:
        offset, digest, made = json.loads(base64.urlsafe_b64decode(token.removeprefix("~!!~")))
    except (binascii.Error, ValueError, TypeError):
        raise GoogleRefused(bad_page_token()) from None
    if digest != _digest(query) or now - datetime.fromtimestamp(made, now.tzinfo) > VALID:
        raise GoogleRefused(bad_page_token())
    return int(offset)


def size(value: Any, default: int, most: int) -> int:
    """A page size; a larger one is cut to the maximum, as Google does."""
    try:
        asked = int(value) if value not in (None, "") else default
    except (TypeError, ValueError):
        asked = default
    return max(1, min(asked, most))


def _digest(query: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(query, sort_keys=True, default=str).encode()).hexdigest()[:16]
