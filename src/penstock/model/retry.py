"""Retry policies: how long after a failure a task runs again, and when it becomes a dead letter.

The database applies them, so workers in any language retry the same way; these types only describe a policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Policy: TypeAlias = dict[str, str | float | list[float]]


@dataclass(frozen=True, slots=True)
class Exponential:
    """Waits `base` seconds, then `factor` times longer each time, up to `cap`, plus up to `jitter` of it."""

    base: float = 1.0
    factor: float = 4.0
    cap: float = 3600.0
    jitter: float = 0.25
    attempts: int | None = None
    """Maximum number of runs; None: the task type's max_attempts."""

    def __post_init__(self) -> None:
        if self.base < 0 or self.factor < 1 or self.cap < 0 or self.jitter < 0:
            raise ValueError("base, cap and jitter must not be negative, and factor must be at least 1")

    def policy(self) -> Policy:
        """The policy as the database stores it."""
        kept: Policy = {
            "kind": "exponential",
            "base": self.base,
            "factor": self.factor,
            "cap": self.cap,
            "jitter": self.jitter,
        }
        if self.attempts is not None:
            kept["attempts"] = self.attempts
        return kept


@dataclass(frozen=True, slots=True)
class Table:
    """Seconds to wait before each run, starting with the first; after the last entry the task is dead."""

    delays: tuple[float, ...] = (0.0, 30.0, 300.0)

    def __post_init__(self) -> None:
        if not self.delays or min(self.delays) < 0:
            raise ValueError("a table needs at least one delay, and none may be negative")

    def policy(self) -> Policy:
        """The policy as the database stores it."""
        return {"kind": "table", "delays": list(self.delays)}


@dataclass(frozen=True, slots=True)
class NoRetry:
    """The first failure is final: retrying does not make an invalid document valid."""

    def policy(self) -> Policy:
        """The policy as the database stores it."""
        return {"kind": "none"}


RetryPolicy: TypeAlias = Exponential | Table | NoRetry
