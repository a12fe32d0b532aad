"""The hash under which API keys and receipt tokens are stored."""

from __future__ import annotations

import hashlib


def token_hash(token: str) -> bytes:
    """A token has 256 random bits, so one round of SHA-256 is safe and fast to look up."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
