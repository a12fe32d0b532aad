"""Finds the API key in a request's headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.errors import KeyRefused

LONGEST_KEY: Final = 256


def api_key(headers: Mapping[str, str]) -> str:
    """The key in Authorization: Bearer or X-API-Key; raises KeyRefused if there is no well-formed one."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    found = secret.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()
    if not found:
        raise KeyRefused(
            "the request has no API key", "Authorization", "Send it as Authorization: Bearer pk_…"
        )
    if len(found) > LONGEST_KEY or not found.isascii():
        raise KeyRefused("there is no such key", "Authorization")
    return found
