"""Which addresses the simulators post to: those on this machine only."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

_LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}


def is_on_this_machine(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and parts.hostname in _LOOPBACK and parts.port != 0
    except ValueError:
        return False
