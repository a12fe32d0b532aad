"""What a handler may return instead of completing its task, and how a run failed."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.ids import LeaseId


@dataclass(frozen=True, slots=True)
class Snooze:
    """Run this task again after some seconds; this does not use up an attempt."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cancel:
    """End this task for good without an error."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """The error of one run, ready to be stored."""

    lease_id: LeaseId
    code: str
    message: str
    details: str
    retry_after: float | None = None
    final: bool = False
