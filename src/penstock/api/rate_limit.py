"""Limits a tenant's requests to this process, by the generic cell rate algorithm."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from penstock.api.problem import HttpRefused

_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left after one request; `retry_after` is 0 if that request may pass."""

    limit: int
    remaining: int
    reset: float
    retry_after: float = 0.0

    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        return (
            (b"ratelimit-limit", b"%d" % self.limit),
            (b"ratelimit-remaining", b"%d" % self.remaining),
            (b"ratelimit-reset", b"%d" % math.ceil(self.reset)),
        )


def burst_of(per_minute: int) -> int:
    """How many requests may arrive at once: ten seconds' worth, at least ten, never more than a minute's."""
    return min(per_minute, max(10, per_minute // 6))


class RateLimit:
    """For each tenant: when its allowance is full again, and the limit that was used for it.

    A changed limit takes effect with the next request: what was used is kept as a number of requests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: dict[Hashable, tuple[float, int]] = {}

    def take(self, who: Hashable, per_minute: int) -> Allowance:
        """Count one request; a rejected one is not counted."""
        now = self._clock()
        step, burst = 60.0 / per_minute, burst_of(per_minute)
        full_at = self._reckoned(who, per_minute, now)
        room = burst * step - (full_at - now)
        if room < step * 0.999_999:  # rounding must not cost a caller its last request
            return Allowance(per_minute, 0, full_at - now, step - room)
        if len(self._full_at) >= _KEPT:
            self._forget(now)
        self._full_at[who] = (full_at + step, per_minute)
        return Allowance(per_minute, int(room / step - 0.999_999), full_at + step - now)

    def wait(self, who: Hashable, per_minute: int) -> float:
        """Seconds until another request would pass, 0 for now; nothing is counted."""
        now = self._clock()
        step, burst = 60.0 / per_minute, burst_of(per_minute)
        ahead = self._reckoned(who, per_minute, now) - now
        return max(0.0, ahead - (burst - 0.999_999) * step)

    def _reckoned(self, who: Hashable, per_minute: int, now: float) -> float:
        """When the allowance is full again under this limit, even if the limit was different before."""
        full_at, before = self._full_at.get(who, (now, per_minute))
        if before != per_minute:
            used = (full_at - now) * before / 60.0
            full_at = now + min(used, burst_of(per_minute)) * 60.0 / per_minute
            self._full_at[who] = (full_at, per_minute)
        return max(full_at, now)

    def _forget(self, now: float) -> None:
        """Forget tenants whose allowance is full; if there are none, forget the fullest half."""
        self._full_at = {who: at for who, at in self._full_at.items() if at[0] > now}
        if len(self._full_at) >= _KEPT:
            kept = sorted(self._full_at.items(), key=lambda pair: pair[1])[_KEPT // 2 :]
            self._full_at = dict(kept)


def refuse_over(allowance: Allowance, raised_by: str = "the tenant's requests_per_minute") -> None:
    """Raise a 429 if a request may not pass."""
    if allowance.retry_after > 0:
        seconds = max(1, math.ceil(allowance.retry_after))
        raise HttpRefused(
            "rate-limited",
            f"More than {allowance.limit} requests per minute",
            f"Wait {seconds} s, or raise {raised_by}",
            headers={"Retry-After": str(seconds)},
        )
