"""The workloads by name, each measured case by case and judged against its required figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Protocol

from bench.environment import Environment
from bench.job import Figures

Medians = Mapping[str, Figures]


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    key: str
    heading: str
    digits: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """A measured ratio against the figure it must reach (`at_least`) or keep within."""

    claim: str
    measured: float
    required: float
    at_least: bool = True

    @property
    def passed(self) -> bool:
        return self.measured >= self.required if self.at_least else self.measured <= self.required


class Judged(Protocol):
    """What a report needs of a workload, wherever it was measured."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def columns(self) -> tuple[Column, ...]:
        """The first one leads."""

    def judge(self, medians: Medians) -> list[Verdict]: ...


class Workload(Judged, Protocol):
    def cases(self, systems: Sequence[str]) -> list[str]:
        """What is measured side by side in every round."""

    @property
    def most_rounds(self) -> int:
        """A workload of many cases takes its time in fewer rounds."""

    async def measure(self, environment: Environment, case: str) -> Figures: ...


def ratio(medians: Medians, key: str, over: str, under: str) -> float | None:
    if over not in medians or under not in medians or not medians[under][key]:
        return None
    return medians[over][key] / medians[under][key]


def ratios(
    medians: Medians, key: str, wanted: Mapping[str, float], at_least: bool, words: str
) -> list[Verdict]:
    """Penstock's figure over each peer's."""
    verdicts = []
    for peer, required in wanted.items():
        measured = ratio(medians, key, "penstock", peer)
        if measured is not None:
            verdicts.append(Verdict(f"{words} / {peer}'s", measured, required, at_least))
    return verdicts


NAMES = ("drain", "shapes", "latency", "fleet", "enqueue", "notify", "pinned", "wal")
