"""Tokens that anybody sends to /webhooks/gmail, and the keys they are verified with."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import httpx2
from joserfc import jwt

from penstock.webhooks.google_push import LONGEST_TOKEN, GooglePush
from penstock.webhooks.public_keys import MOST_BYTES, PublicKeys, read_keys
from tests.plugins.google_keys import SERVICE_ACCOUNT, GoogleKeys, rsa_key
from tests.security.hostile_texts import COMMON, HEADER, each, texts

KID: Final = "first"
SPARE: Final = 1_500
"""Characters of a token that are left for a text, beside its signature and in base64."""


def _encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


@cache
def _push() -> GooglePush:
    keys = PublicKeys("https://keys.example", httpx2.AsyncClient, clock=lambda: 0.0)
    keys._keys = read_keys(GoogleKeys("us", [KID]).body)
    keys._fetched_at = 0.0
    return GooglePush(keys, audience="us", service_account=SERVICE_ACCOUNT)


def _headers(text: str) -> Iterator[dict[str, Any]]:
    """All pass our own look at the header, so that the library reads them."""
    known: dict[str, Any] = {"alg": "RS256", "kid": KID}
    yield known | {"typ": text}
    yield known | {"crit": [text], text: text}
    yield known | {"crit": list(text), "b64": False}
    yield known | {"jwk": {"kty": "RSA", "n": text, "e": text}, "jku": text, "x5c": [text]}
    yield known | {"zip": "DEF", "enc": "A256GCM", "p2c": 2_000_000_000, "p2s": text}


async def _verify() -> None:
    """Each token at the longest we take, with a signature of its own and with Google's, and far above it."""
    push, accepted = _push(), 0
    for size, pieces in ((SPARE, COMMON), (HEADER, ("a", ".", "[", "="))):
        for text in texts(size, *pieces):
            part = _encoded(text.encode())
            heads = [_encoded(json.dumps(header).encode()) for header in _headers(text)]
            tokens = [f"{part}.{part}.{part}", "." * size, f"{part}..", text]
            for token in (*tokens, *(f"{head}.{part}.{part}" for head in heads)):
                accepted += await push.is_genuine(f"Bearer {token}")
    for text in texts(SPARE, "a", "0", "[", '\\"', "\x00"):
        signed = jwt.encode({"alg": "RS256", "kid": KID}, {"iss": text, "exp": text}, rsa_key(KID))
        accepted += await push.is_genuine(f"Bearer {signed}")
    known = _encoded(json.dumps({"alg": "RS256", "kid": KID}).encode())
    left = (LONGEST_TOKEN - len(known) - 2) * 3 // 4
    for body in (b"[" * left, b"9" * left, b'{"a":' * (left // 5), b'"' + b"\\u0000" * (left // 6) + b'"'):
        accepted += await push.is_genuine(f"Bearer {known}.{_encoded(body)}.")
        accepted += await push.is_genuine(f"Bearer {_encoded(body)}.{known}.")
    assert accepted == 0
    assert await push.is_genuine(f"Bearer {GoogleKeys('us').token()}"), "the library was never asked"


def _keys(text: str) -> None:
    """As many as fit into an answer, each with a text where a number should be."""
    good = rsa_key(KID).as_dict(private=False)
    for changed in ({"n": text[:1_300]}, {"e": text}, {"kid": text}, {"kty": text}, {"use": text}):
        listed = [{**good, **changed} for _ in range(20)]
        read_keys(json.dumps({"keys": listed}).encode()[: 20 * MOST_BYTES])
    read_keys(text.encode())


ON_THE_LOOP: Final[dict[str, Callable[[], None]]] = {
    "penstock.webhooks.google_push:joserfc": lambda: asyncio.run(_verify()),
    "penstock.webhooks.public_keys:joserfc.jwk": each(
        _keys, MOST_BYTES // 20, "A", "_", "AQAB", "=", "é", "["
    ),
}
