"""Verifies that a request comes from our own Pub/Sub subscription, by the token Google signs for it."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeGuard

if TYPE_CHECKING:
    from penstock.webhooks.public_keys import PublicKeys

ISSUERS: Final = frozenset({"https://accounts.google.com", "accounts.google.com"})
ALGORITHM: Final = "RS256"
LONGEST_TOKEN: Final = 4_096
LONGEST_KEY_ID: Final = 200
SKEW_SECONDS: Final = 60.0
"""How far Google's clock may be ahead of ours."""


class GooglePush:
    """Accepts tokens for one audience, of one service account; `now` is the time of day."""

    def __init__(
        self,
        keys: PublicKeys,
        *,
        audience: str,
        service_account: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._keys = keys
        self._audience = audience
        self._service_account = service_account
        self._now = now

    async def is_genuine(self, authorization: str) -> bool:
        """Whether the Authorization header carries such a token. KeysUnavailable if nobody can say."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.isascii() or len(token) > LONGEST_TOKEN:
            return False
        key_id = _key_id(token)
        if not self._service_account or key_id is None:
            return False
        key = await self._keys.get(key_id)
        if key is None:
            return False
        from joserfc import jwt
        from joserfc.errors import JoseError

        try:
            claims = jwt.decode(token, key, algorithms=[ALGORITHM]).claims
        except (JoseError, ValueError, TypeError, RecursionError):
            return False
        return self._accepts(claims)

    def _accepts(self, claims: Mapping[str, Any]) -> bool:
        now = self._now()
        expires, issued = claims.get("exp"), claims.get("iat")
        return (
            claims.get("iss") in ISSUERS
            and _is_same(claims.get("aud"), self._audience)
            and _is_same(claims.get("email"), self._service_account)
            and claims.get("email_verified") is True
            and _is_time(expires)
            and expires > now
            and (issued is None or (_is_time(issued) and issued <= now + SKEW_SECONDS))
        )


def _key_id(token: str) -> str | None:
    """The id of the key a token claims to be signed with; None if it is not a token as Google makes them."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        header = json.loads(base64.urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None
    if not isinstance(header, dict) or header.get("alg") != ALGORITHM:
        return None
    key_id = header.get("kid")
    return key_id if isinstance(key_id, str) and 0 < len(key_id) <= LONGEST_KEY_ID else None


def _is_same(value: object, expected: str) -> bool:
    return isinstance(value, str) and hmac.compare_digest(value.encode(errors="replace"), expected.encode())


def _is_time(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
