"""One line of doctor's report, and from when on something counts as a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report."""

    check: str
    status: Status
    message: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """From when on something counts as a problem."""

    old_seconds: float
    pinned_seconds: float
