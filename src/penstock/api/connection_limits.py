"""The limits of one API process: how long a client may take and how many may be connected."""

from __future__ import annotations

import resource
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

from penstock.observe import get_logger

if TYPE_CHECKING:
    from penstock.settings import Settings

log = get_logger(__name__)

_OTHER_FILES: Final = 256
"""Open files a process needs in addition to its connections: the database, blobs, spooled bodies."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    body_bytes_per_second: int = 10_000
    idle_seconds: float = 5.0
    connections: int = 1_000

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            settings.api_head_seconds,
            settings.api_body_seconds,
            settings.api_body_bytes_per_second,
            settings.api_idle_seconds,
            settings.api_connections,
        )

    @property
    def refused_connections(self) -> int:
        """How many connections over the limit are read up to their request, so that they get a response."""
        return max(16, self.connections // 10)

    def within_open_files(self) -> Self:
        """Raise the limit of open files as needed; if that is not allowed, accept fewer connections."""
        needed = self.connections + self.refused_connections + _OTHER_FILES
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY or soft >= needed:
            return self
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        if most == needed:
            return self
        fewer = max(1, (most - _OTHER_FILES) * 9 // 10)
        log.warning("connections_reduced", asked=self.connections, connections=fewer, open_files=most)
        return replace(self, connections=fewer)
