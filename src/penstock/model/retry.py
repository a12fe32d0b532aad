"""Retry policies: how long after a failure a task runs again, and when it is dead.

The database decides by them, so any language's worker retries alike; these types only write the policy down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Policy: TypeAlias = dict[str, str | float | list[float]]


@dataclass(frozen=True, slots=True)
class Exponential:
    """Waits `base`, then `factor` times as long each time, at most `cap`, plus up to `jitter` of it."""

    base: float = 1.0
    factor: float = 4.0
    cap: float = 3600.0
    jitter: float = 0.25
    attempts: int | None = None
    """Runs in all; without it the task type's max_attempts."""

    def __post_init__(self) -> None:
        if self.base < 0 or self.factor < 1 or self.cap < 0 or self.jitter < 0:
            raise ValueError("base, cap and jitter must not be negative, and factor must be at least 1")

    def policy(self) -> Policy:
        """The policy as the database keeps it."""
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
    """One entry a run: seconds before it. The first run's is the first; after the last the task is dead."""

    delays: tuple[float, ...] = (0.0, 30.0, 300.0)

    def __post_init__(self) -> None:
        if not self.delays or min(self.delays) < 0:
            raise ValueError("a table needs at least one delay, and none may be negative")

    def policy(self) -> Policy:
        """The policy as the database keeps it."""
        return {"kind": "table", "delays": list(self.delays)}


@dataclass(frozen=True, slots=True)
class NoRetry:
    """The first failure is final: an invalid document does not become valid by trying again."""

    def policy(self) -> Policy:
        """The policy as the database keeps it."""
        return {"kind": "none"}


RetryPolicy: TypeAlias = Exponential | Table | NoRetry
