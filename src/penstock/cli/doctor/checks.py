"""One line of doctor's report, and the thresholds for warnings."""

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
class Thresholds:
    """The thresholds for warnings."""

    old_seconds: float
    pinned_seconds: float
