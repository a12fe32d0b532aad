"""`python -m bench reading`: generated files of known content, read by Penstock and by other libraries."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import fmean
from time import process_time

from bench import machine
from bench.reading import penstock_reading, speed
from bench.reading.peers import PEERS, Read, missing, reader_of
from bench.reading.truth import Reading, Scores, Truth, scores
from bench.relevance.corpus import ROOT

RESULT = ROOT / "bench" / "results" / "reading"
SETS = ("pdf", "office", "open_formats", "web", "markup", "texts", "scans")
MEASURES = ("words", "precision", "cells", "headings", "order")
REQUIRED = ("words", "cells", "headings", "order")
"""Those in which no other library may be better. A reader that finds less is often more precise."""
OURS = "penstock"
SLACK = 0.005
"""A word more or less in a small set."""

Means = Mapping[str, float | None]


def make(folder: Path, sets: Iterable[str]) -> list[Truth]:
    found: list[Truth] = []
    for name in sets:
        place = folder / name
        place.mkdir()
        found += import_module(f"bench.reading.made.{name}").make(place)
    return found


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


def beaten(found: Mapping[str, Measured], measures: Sequence[str]) -> list[str]:
    """Where another library is better."""
    worse: list[str] = []
    for kind, ours in found[OURS].means.items():
        for name in measures:
            mine = ours[name]
            for reader, theirs in found.items():
                other = theirs.means.get(kind, {}).get(name)
                if mine is not None and other is not None and other > mine + SLACK:
                    worse.append(f"{kind}, {name}: {mine} against {other} of {reader}")
    return worse


def table(found: Mapping[str, Measured], counts: Mapping[str, int]) -> str:
    """A line per kind: the measures of each reader."""
    return _table(counts, found, lambda one, kind: _cell(one.means.get(kind)))


def seconds_table(found: Mapping[str, Measured], counts: Mapping[str, int]) -> str:
    """A line per kind: the processor seconds of each reader, and how many files it could not read."""

    def cell(one: Measured, kind: str) -> str:
        if kind not in one.seconds:
            return ""
        refused = one.refused.get(kind, 0)
        return f"{one.seconds[kind]:.2f}" + (f" ({refused} not read)" if refused else "")

    return _table(counts, found, cell)


def _table(
    counts: Mapping[str, int], found: Mapping[str, Measured], cell: Callable[[Measured, str], str]
) -> str:
    lines = [f"| kind (files) | {' | '.join(found)} |", f"|---|{'--:|' * len(found)}"]
    for kind, count in counts.items():
        cells = [cell(one, kind) for one in found.values()]
        lines.append(f"| {kind} ({count}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(means: Means | None) -> str:
    if means is None:
        return ""
    return " / ".join("–" if (value := means[name]) is None else f"{value:.3f}" for name in MEASURES)  # noqa: RUF001  # a dash


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench reading", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS, help="some of the sets")
    parser.add_argument("--no-speed", action="store_true", help="leave the files of 3 MB out")
    options = parser.parse_args(words)
    absent = missing()
    with tempfile.TemporaryDirectory(prefix="penstock-reading-") as folder:
        truths = make(Path(folder), options.only)
        found = {OURS: measure(truths, lambda _: penstock_reading.read)}
        for name in PEERS:
            if name not in absent:
                found[name] = measure(truths, partial(reader_of, name))
        spent = {} if options.no_speed else speed.seconds_per_mb(Path(folder))
    found = {name: one for name, one in found.items() if one.means}
    worse = beaten(found, REQUIRED)
    slow = [f"{name}: {value:.2f} s per MB" for name, value in spent.items() if value > speed.REQUIRED]
    said = report(words, truths, found, absent, spent, worse, slow)
    print(said)
    if tuple(options.only) == SETS and spent:
        RESULT.with_suffix(".md").write_text(said)
        kept = {name: asdict(one) for name, one in found.items()}
        result = {"readers": kept, "not_installed": absent, "seconds_per_mb": spent}
        RESULT.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    return 1 if worse or slow else 0


def report(
    words: Sequence[str],
    truths: Sequence[Truth],
    found: Mapping[str, Measured],
    absent: Sequence[str],
    spent: Mapping[str, float],
    worse: Sequence[str],
    slow: Sequence[str],
) -> str:
    counts = Counter(truth.kind for truth in truths)
    lines = [
        "# Reading generated files",
        "",
        f"- command: python -m bench reading {' '.join(words)}".rstrip(),
        f"- machine: {', '.join(f'{name} {value}' for name, value in machine.describe(None).items())}",
        f"- not installed, so not compared: {', '.join(absent) or 'none'}"
        + (" (they come with the extra `bench`)" if absent else ""),
        "",
        "From 0 to 1: words found / found words that are in the document (precision) /",
        "table cells in row order / headings with path / order of reading.",
        "",
        table(found, counts),
        "",
        "## Processor seconds",
        "",
        seconds_table(found, counts),
    ]
    if spent:
        lines += ["", "## Long files", "", speed.table(spent)]
    for title, each in (
        ("Where another library is better", worse),
        ("Where another library is more precise", beaten(found, ("precision",))),
        *((("Slower than required", slow),) if spent else ()),
    ):
        lines += ["", f"## {title}", "", *([f"- {line}" for line in each] or ["Nowhere."])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
