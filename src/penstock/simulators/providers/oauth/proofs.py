"""How a client proves itself: Basic authentication, and PKCE for the code it exchanges."""

from __future__ import annotations

import base64
import binascii
import hashlib
from urllib.parse import unquote


def basic(authorization: str | None) -> tuple[str | None, str | None]:
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None, None
    try:
        name, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None, None
    return unquote(name), unquote(secret)


def challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
