"""Runs one reader over the generated files: the mean of each measure, and the processor time, by kind."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from time import process_time

from bench.reading.peers import Read
from bench.reading.truth import Reading, Scores, Truth, scores

MEASURES = ("words", "precision", "cells", "headings", "order")

Means = Mapping[str, float | None]


@dataclass(slots=True)
class Measured:
    """What one reader made of the files."""

    means: dict[str, Means] = field(default_factory=dict)
    """The mean of each measure by kind. A file that is refused counts 0."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor seconds by kind."""
    refused: dict[str, int] = field(default_factory=dict)
    """Files that it could not read, by kind."""


def measure(truths: Sequence[Truth], reader: Callable[[str], Read | None]) -> Measured:
    """`reader` gives the function that reads a kind; kinds without one are left out."""
    found = Measured()
    by_kind: defaultdict[str, list[Scores]] = defaultdict(list)
    for truth in truths:
        read = reader(truth.kind)
        if read is None:
            continue
        began = process_time()
        try:
            reading = read(truth.path)
        except Exception as error:  # noqa: BLE001  # another library's failure is its result
            print(f"  {read.__name__}: {truth.path.name}: {type(error).__name__}", file=sys.stderr)
            found.refused[truth.kind] = found.refused.get(truth.kind, 0) + 1
            reading = Reading("")
        spent = process_time() - began
        found.seconds[truth.kind] = round(found.seconds.get(truth.kind, 0.0) + spent, 3)
        by_kind[truth.kind].append(scores(truth, reading))
    found.means = {kind: _means(each) for kind, each in by_kind.items()}
    return found


def _means(found: Sequence[Scores]) -> Means:
    means: dict[str, float | None] = {}
    for name in MEASURES:
        values = [value for each in found if (value := getattr(each, name)) is not None]
        means[name] = round(fmean(values), 3) if values else None
    return means
