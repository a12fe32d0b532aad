"""What a worker is given: its queues, its name, and what else runs as long as it does."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from penstock.db.reconnecting import ReconnectingConnection


class Service(Protocol):
    """Something that runs from `start` to `stop` and handles its own errors."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...


class Inlets(Protocol):
    """The inlets this process holds: looked after every few seconds, on the connection of the duties."""

    async def look(self, line: ReconnectingConnection) -> None: ...
    async def stop(self, line: ReconnectingConnection, grace: float) -> None: ...


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Queues with their number of slots, the worker's name, and whether it owns the process.

    `owns_process`: if the loop is blocked, end the whole process, as `penstock worker` does. Otherwise the
    worker drops its leases and registers again once the loop responds.
    """

    queues: Mapping[str, int]
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")
    owns_process: bool = False
    reserve: Mapping[str, int] = field(default_factory=dict)
    """How many tasks of a queue may run beyond its slots, each of a tenant without a running task here."""
    services: Sequence[Service] = ()
    """What else runs as long as the worker does."""
    inlets: Inlets | None = None
    """What moves messages of other people's queues into ours."""
