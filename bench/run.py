"""What the run of a bench has in common: its cases in turn, its facts, and its record."""

from __future__ import annotations

import argparse
import datetime
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence

from bench import machine, report
from bench.job import Figures
from penstock.db.embedded.server import EmbeddedServer


class Run:
    """Made when the clock starts, ended with what was measured."""

    def __init__(self, bench: str, words: Sequence[str], options: argparse.Namespace) -> None:
        self._options = options
        self._started = datetime.datetime.now(datetime.UTC)
        self._facts: dict[str, object] = {
            "date": self._started.isoformat(timespec="seconds"),
            "command": " ".join([f"python -m bench {bench}", *words]),
            "machine": machine.describe(options.data),
        }

    def end(
        self,
        server: EmbeddedServer,
        versions: Mapping[str, str],
        sizes: Mapping[str, object],
        outcomes: Sequence[report.Outcome],
        *,
        goals: Collection[str] = (),
        **facts: object,
    ) -> int:
        """Write and show the record; 1 if a required figure is missed. `goals` are not yet required."""
        self._facts |= {"versions": versions, **facts, "server settings": server.settings, "sizes": sizes}
        taken = datetime.datetime.now(datetime.UTC) - self._started
        self._facts["seconds"] = round(taken.total_seconds())
        path = report.write(self._options.name, self._facts, outcomes)
        report.show(path.read_text())
        verdicts = [verdict for outcome in outcomes for verdict in outcome.verdicts]
        return 0 if all(verdict.passed for verdict in verdicts if verdict.claim not in goals) else 1


def in_turn(cases: Sequence[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Every case once in each round, counted from 1; each round begins with another one."""
    for number in range(rounds):
        first = number % len(cases)
        for case in (*cases[first:], *cases[:first]):
            yield number + 1, case


def set_ratios(rounds: Mapping[str, Sequence[Figures]], peer: str) -> None:
    """Put each rate beside the median of the peer's."""
    own = statistics.median(figures["rate"] for figures in rounds[peer])
    for found in rounds.values():
        for figures in found:
            figures["ratio"] = figures["rate"] / own
