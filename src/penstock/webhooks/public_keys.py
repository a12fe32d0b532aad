"""The public keys a provider signs with: cached, and fetched at most once a minute."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import PenstockError
from penstock.observe import get_logger

if TYPE_CHECKING:
    import httpx2
    from joserfc.jwk import RSAKey

log = get_logger(__name__)

FRESH_SECONDS: Final = 3_600.0
"""Keys older than this are fetched again, but used until that works."""
USABLE_SECONDS: Final = 86_400.0
RETRY_SECONDS: Final = 60.0
"""An unknown key id leads to at most one request per minute, whatever strangers send."""
CALL_SECONDS: Final = 5.0
MOST_BYTES: Final = 100_000
MOST_KEYS: Final = 20
SMALLEST_BITS: Final = 2_048
LARGEST_BITS: Final = 8_192


class KeysUnavailable(PenstockError):
    """The keys cannot be fetched, so nobody can be verified now."""

    def __init__(self, url: str) -> None:
        super().__init__(f"the keys at {url} cannot be fetched", "Try again later")
        self.args = (url,)


class PublicKeys:
    """RSA keys by their id, from a JWK set; `client` gives the HTTP client when it is first needed."""

    def __init__(
        self, url: str, client: Callable[[], httpx2.AsyncClient], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = url
        self._client = client
        self._clock = clock
        self._keys: Mapping[str, RSAKey] = {}
        self._fetched_at = self._asked_at = -math.inf
        self._lock = asyncio.Lock()

    async def get(self, key_id: str) -> RSAKey | None:
        """The key with this id, None if there is none; KeysUnavailable if no keys are known at all."""
        found = self._known(key_id)
        if found is not None and (self._age() < FRESH_SECONDS or self._lock.locked()):
            return found
        async with self._lock:
            found = self._known(key_id)
            if found is not None and self._age() < FRESH_SECONDS:
                return found
            if self._clock() - self._asked_at >= RETRY_SECONDS:
                self._asked_at = self._clock()
                await self._fetch()
        if self._age() >= USABLE_SECONDS:
            raise KeysUnavailable(self._url)
        return self._keys.get(key_id)

    def _known(self, key_id: str) -> RSAKey | None:
        return self._keys.get(key_id) if self._age() < USABLE_SECONDS else None

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                response = await self._client().get(self._url)
            response.raise_for_status()
            if len(response.content) > MOST_BYTES:
                raise ValueError(f"it is longer than {MOST_BYTES} bytes")
            keys = read_keys(response.content)
            if not keys:
                raise ValueError("it has no usable key")
        except Exception as error:  # noqa: BLE001  # whatever it is, the keys we have are all there is
            log.throttled("push_keys_not_fetched", url=self._url, reason=str(error) or type(error).__name__)
            return
        self._keys, self._fetched_at = keys, self._clock()


def read_keys(body: bytes) -> dict[str, RSAKey]:
    """The RSA keys of a JWK set that may sign, by their id; others are left out."""
    from joserfc.errors import JoseError
    from joserfc.jwk import RSAKey

    listed: Any = json.loads(body)
    keys = listed.get("keys") if isinstance(listed, dict) else None
    found = {}
    for each in (keys if isinstance(keys, list) else [])[:MOST_KEYS]:
        if not isinstance(each, dict) or each.get("kty") != "RSA" or each.get("use", "sig") != "sig":
            continue
        key_id, modulus = each.get("kid"), each.get("n")
        if not isinstance(key_id, str) or not isinstance(modulus, str):
            continue
        if not SMALLEST_BITS <= len(modulus) * 6 <= LARGEST_BITS + 16:
            continue
        try:
            found[key_id] = RSAKey.import_key({name: each[name] for name in ("kty", "n", "e")})
        except (JoseError, ValueError, KeyError, TypeError):
            continue
    return found
