"""A worker's registration in the database, and how long it may rely on it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from time import monotonic

from penstock.model import WorkerId


@dataclass(slots=True)
class Registration:
    """Renewed by each beat. After `valid_until` (monotonic) no prefetched task may start."""

    worker_id: WorkerId
    lease_seconds: float
    valid_until: float = 0.0

    def renew(self, asked_at: float) -> None:
        """Count from when the beat was sent, not answered: the database may have recorded it then."""
        self.valid_until = asked_at + self.lease_seconds * 0.9

    @property
    def valid(self) -> bool:
        return monotonic() < self.valid_until


def own_versions() -> dict[str, str]:
    """What this worker runs; its attempts show it."""
    from penstock.pipeline.version import CODE_VERSION  # an app that runs no worker needs no documents

    return {"penstock": version("penstock"), "python": platform.python_version(), "code": CODE_VERSION}
