"""The sizes of a run: how many tasks, how long, how often."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    rounds: int = 5
    drain_tasks: int = 50_000
    enqueue_tasks: int = 50_000
    wal_tasks: int = 10_000
    pinned_tasks: int = 200_000
    pinned_window: int = 20_000
    latency_rate: float = 100.0
    latency_seconds: float = 20.0
    fleet_seconds: float = 6.0
    large_tasks: int = 400
    waiting_tasks: int = 1_000_000
    notify_writers: int = 16
    notify_seconds: float = 5.0
    batch: int = 1_000
    child_timeout: float = 900.0

    def with_tasks(self, tasks: int) -> Plan:
        """Give every counted workload this many tasks; the pinned windows shrink with it."""
        return dataclasses.replace(
            self,
            drain_tasks=tasks,
            enqueue_tasks=tasks,
            wal_tasks=tasks,
            pinned_tasks=tasks,
            pinned_window=max(1, min(self.pinned_window, tasks // 10)),
        )


FULL = Plan()
QUICK = Plan(
    rounds=1,
    drain_tasks=5_000,
    enqueue_tasks=5_000,
    wal_tasks=2_000,
    pinned_tasks=20_000,
    pinned_window=2_000,
    latency_seconds=3.0,
    fleet_seconds=2.0,
    large_tasks=40,
    waiting_tasks=20_000,
    notify_seconds=1.0,
    child_timeout=120.0,
)
