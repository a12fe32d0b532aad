"""The page and the verdicts of `python -m bench reading`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.reading import speed
from bench.reading.measure import MEASURES, Means, Measured

OURS = "penstock"
REQUIRED = ("words", "cells", "headings", "order")
"""Those in which no other library may be better. A reader that finds less is often more precise."""
SLACK = 0.005
"""A word more or less in a small set."""

Found = Mapping[str, Measured]


def beaten(found: Found, measures: Sequence[str] = REQUIRED) -> list[str]:
    """Where another library is better."""
    worse: list[str] = []
    for kind, ours in found[OURS].means.items():
        for name in measures:
            mine, best = ours[name], best_other(found, kind, name)
            if mine is not None and best is not None and best[0] > mine + SLACK:
                worse.append(f"{kind}, {name}: {mine:.3f} against {best[0]:.3f} of {best[1]}")
    return worse


def best_other(found: Found, kind: str, measure: str) -> tuple[float, str] | None:
    """The best score of the other libraries, and whose it is; None if none of them reads the kind."""
    scores = [
        (score, reader)
        for reader, one in found.items()
        if reader != OURS and (score := one.means.get(kind, {}).get(measure)) is not None
    ]
    return max(scores, key=lambda each: each[0], default=None)


def slow(spent: Mapping[str, float]) -> list[str]:
    return [f"{name}: {value:.2f} s per MB" for name, value in spent.items() if value > speed.REQUIRED]


def page(facts: Mapping[str, object], counts: Mapping[str, int], found: Found, spent: speed.Spent) -> str:
    lines = ["# Reading generated files", ""]
    for name, fact in facts.items():
        said = ", ".join(f"{k} {v}" for k, v in fact.items()) if isinstance(fact, Mapping) else fact
        lines.append(f"- {name}: {said}")
    sections = [
        ("Penstock beside the best of the others", _SHARES, beside_best(found, counts)),
        ("Where another library is better", "", _listed(beaten(found))),
        *([("Slower than required", "", _listed(slow(spent)))] if spent else []),
        ("Where another library is more precise", "", _listed(beaten(found, ("precision",)))),
        ("Every reader", _EVERY, _by_reader(counts, found, lambda one, kind: _cell(one.means.get(kind)))),
        ("Processor seconds", "", _by_reader(counts, found, _seconds)),
        *([("Long files", "", speed.table(spent))] if spent else []),
    ]
    for title, about, body in sections:
        lines += ["", f"## {title}", "", *([about, ""] if about else []), body]
    return "\n".join(lines) + "\n"


_SHARES = f"""\
From 0 to 1: words found, table cells in the order of their row, headings with their path, and phrases in the
order of reading. In brackets the best of the others; better is what is more than {SLACK} above."""
_EVERY = "words / found words that are in the document (precision) / cells / headings / order"


def beside_best(found: Found, counts: Mapping[str, int]) -> str:
    lines = [f"| kind (files) | {' | '.join(REQUIRED)} |", f"|---|{'--:|' * len(REQUIRED)}"]
    for kind, count in counts.items():
        cells = [_beside(found, kind, name) for name in REQUIRED]
        lines.append(f"| {kind} ({count}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def _beside(found: Found, kind: str, measure: str) -> str:
    mine, best = found[OURS].means[kind][measure], best_other(found, kind, measure)
    if mine is None:
        return "–"  # noqa: RUF001  # a dash
    said = f"{mine:.3f}"
    if best is None:
        return said
    said += f" ({best[1]} {best[0]:.3f})"
    return f"**{said}**" if best[0] > mine + SLACK else said


def _by_reader(counts: Mapping[str, int], found: Found, cell: Callable[[Measured, str], str]) -> str:
    lines = [f"| kind (files) | {' | '.join(found)} |", f"|---|{'--:|' * len(found)}"]
    for kind, count in counts.items():
        lines.append(f"| {kind} ({count}) | {' | '.join(cell(one, kind) for one in found.values())} |")
    return "\n".join(lines)


def _seconds(one: Measured, kind: str) -> str:
    """With how many files it could not read."""
    if kind not in one.seconds:
        return ""
    refused = one.refused.get(kind, 0)
    return f"{one.seconds[kind]:.3f}" + (f" ({refused} not read)" if refused else "")


def _cell(means: Means | None) -> str:
    if means is None:
        return ""
    return " / ".join("–" if (value := means[name]) is None else f"{value:.3f}" for name in MEASURES)  # noqa: RUF001  # a dash


def _listed(each: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in each) or "Nowhere."
