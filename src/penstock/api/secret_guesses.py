"""Limits guesses of a shared secret without locking out those who know it."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable
from typing import Final

from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import RateLimit

PER_ADDRESS: Final = 10
"""Wrong secrets per minute from one address."""
IN_ALL: Final = 600
"""Wrong secrets per minute from all addresses that have not sent the right one."""
_TRUSTED_SECONDS: Final = 3_600.0
_MOST_TRUSTED: Final = 1_000


class SecretGuesses:
    """An address over its own limit must wait. Over the total limit, so must new addresses; one that sent
    the right secret within the last hour need not, so that others cannot lock it out.

    An IPv6 client counts by its /64. Behind a proxy all clients have the proxy's address.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._limit = RateLimit(clock)
        self._trusted: dict[str, float] = {}

    def refuse_over(self, address: str | None) -> None:
        """Raise a 429 for an address that may not guess now."""
        who = network_of(address)
        wait = self._limit.wait(who, PER_ADDRESS)
        if self._trusted.get(who, -math.inf) < self._clock() - _TRUSTED_SECONDS:
            wait = max(wait, self._limit.wait(None, IN_ALL))
        if wait > 0:
            seconds = max(1, math.ceil(wait))
            raise HttpRefused(
                "rate-limited",
                "Too many wrong secrets were sent",
                f"Wait {seconds} s, then send the right one",
                headers={"Retry-After": str(seconds)},
            )

    def wrong(self, address: str | None) -> None:
        who = network_of(address)
        self._limit.take(who, PER_ADDRESS)
        if self._trusted.get(who, -math.inf) < self._clock() - _TRUSTED_SECONDS:
            self._limit.take(None, IN_ALL)

    def right(self, address: str | None) -> None:
        who = network_of(address)
        self._trusted.pop(who, None)
        if len(self._trusted) >= _MOST_TRUSTED:
            del self._trusted[next(iter(self._trusted))]
        self._trusted[who] = self._clock()


def network_of(address: str | None) -> str:
    """What a client counts by: its IPv4 address, or the /64 of its IPv6 address."""
    try:
        known = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    return str(known) if known.version == 4 else str(ipaddress.ip_network((known, 64), strict=False))
