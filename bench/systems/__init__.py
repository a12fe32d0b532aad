"""The seam between a workload and a queue: what every measured system must be able to do."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

Setting = str | int | float | bool
Settings = Mapping[str, Setting]
OnTask = Callable[[object], None]

NAMES = ("penstock", "pgqueuer", "procrastinate")


def payload_text(size: int) -> str:
    """Words of a made-up language, this many bytes of them: neither random nor a single repeated letter."""
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(3_000)
    ]
    return " ".join(chance.choices(words, k=size // 3))[:size]


class Producer(Protocol):
    async def enqueue(self, sent_at: float) -> None:
        """Commit one task that carries the time."""

    async def enqueue_many(self, count: int) -> None:
        """Commit a batch by the system's batch call."""


class Worker(Protocol):
    async def run(self, stop: asyncio.Event, *, until_empty: bool) -> None:
        """Work until `stop`, or until nothing is left; return when every completion is committed."""


class System(Protocol):
    settings: Settings
    packages: tuple[str, ...]

    async def install(self, url: str) -> None: ...

    def producer(self, url: str, connections: int) -> AbstractAsyncContextManager[Producer]: ...

    def worker(self, url: str, on_task: OnTask) -> AbstractAsyncContextManager[Worker]:
        """Connect, and hand each task's payload, still as the system gives it, to `on_task`."""

    def sent_at(self, payload: object) -> float: ...

    @property
    def analyze_sql(self) -> str:
        """Run once after a preload, before the worker starts."""

    @property
    def unfinished_sql(self) -> str:
        """Counts the tasks that are not done."""

    @property
    def claim_pattern(self) -> str:
        """Matches the text of the claim statement in pg_stat_statements."""


def require(name: str) -> None:
    if name not in NAMES:
        raise SystemExit(f"There is no system named {name}; choose from {', '.join(NAMES)}.")
    if importlib.util.find_spec(name) is None:
        raise SystemExit(f"The package {name} is not importable here: `make bench` installs it.")


def load(name: str, overrides: Settings) -> System:
    require(name)
    module = importlib.import_module(f"bench.systems.{name}")
    unknown = overrides.keys() - module.DEFAULTS.keys()
    if unknown:
        raise SystemExit(
            f"{name} has no setting {', '.join(sorted(unknown))}; it has {', '.join(module.DEFAULTS)}."
        )
    system: System = module.Adapter({**module.DEFAULTS, **overrides})
    return system
