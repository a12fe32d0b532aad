"""The metrics of a process at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class QueueGauges:
    """The database's latest figures; empty until it has been queried."""

    depths: Mapping[tuple[str, str | None], int] = field(default_factory=dict)
    oldest: Mapping[str, float] = field(default_factory=dict)
    dead_tuples: int | None = None


@dataclass(frozen=True, slots=True)
class InletGauge:
    """What the database knows of one inlet, which any process may read."""

    received: int
    taken: int
    duplicates: int
    refused: int
    lag_seconds: float | None = None
    backlog: int | None = None
    silent_seconds: float | None = None
    """Since its last message."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Copies that are safe to read while the worker keeps counting."""

    claimed: Mapping[tuple[str, str], int]
    completed: Mapping[tuple[str, str], int]
    durations: Mapping[str, tuple[Sequence[int], float]]
    notifications: Mapping[str, int]
    slots: Mapping[tuple[str, str], int]
    polled: int
    lost: int
    rescued: int
    queues: QueueGauges
    inlets: Mapping[tuple[str, str], int] = field(default_factory=dict)
    inlet_lags: Mapping[str, float] = field(default_factory=dict)
    inlet_gauges: Mapping[str, InletGauge] = field(default_factory=dict)
