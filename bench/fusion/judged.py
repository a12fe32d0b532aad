"""Judges hybrid search against its halves and bm25s, and writes the record of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import report
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict

OTHERS = ("words", "vectors", "reciprocal rank", "bm25s")
"""What hybrid search must be as good as; bm25s where it is installed."""
CRANFIELD, LEAST_CRANFIELD = "Cranfield, minilm", 0.43
_HEADINGS = {"questions": "questions", "hybrid": "hybrid as served"}


class Fusion:
    name = "fusion"
    title = "nDCG@10 over documents, by question set and model"
    columns = (Column("hybrid", "nDCG@10", 4),)

    def judge(self, medians: Medians) -> list[Verdict]:
        verdicts = []
        for case, figures in medians.items():
            best = max((name for name in OTHERS if name in figures), key=figures.__getitem__)
            share = round(100 * figures["hybrid"] / figures[best], 3) if figures[best] else 100.0
            verdicts.append(Verdict(f"nDCG@10 of hybrid in % of {best}, {case}", share, 100))
            if case == CRANFIELD:
                measured = round(100 * figures["hybrid"], 2)
                verdicts.append(Verdict(f"100 x nDCG@10 of hybrid, {case}", measured, 100 * LEAST_CRANFIELD))
        return verdicts


def outcome_of(figures: Mapping[str, Figures]) -> report.Outcome:
    return report.Outcome(Fusion(), {case: [found] for case, found in figures.items()})


def write(name: str, facts: report.Facts, outcome: report.Outcome) -> Path:
    """The JSON and the page of a run, as the other benches write them."""
    report.RESULTS.mkdir(exist_ok=True)
    (report.RESULTS / f"{name}.json").write_text(report.as_json(facts, [outcome]))
    path = report.RESULTS / f"{name}.md"
    lines = report.heading(facts, outcome.verdicts)
    path.write_text("\n".join([*lines, "", *table(outcome.medians)]) + "\n")
    return path


def table(medians: Medians) -> Sequence[str]:
    """A line for each set and model, a column for each way to rank."""
    ways = list(dict.fromkeys(way for figures in medians.values() for way in figures))
    ways = [*_HEADINGS, *OTHERS, *(way for way in ways if way not in {*_HEADINGS, *OTHERS})]
    ways = [way for way in ways if any(way in figures for figures in medians.values())]
    lines = [f"## {Fusion.title}", ""]
    lines += ["|  | " + " | ".join(_HEADINGS.get(way, way) for way in ways) + " |"]
    lines += ["|---|" + "--:|" * len(ways)]
    for case, figures in medians.items():
        lines.append(f"| {case} | " + " | ".join(_cell(way, figures) for way in ways) + " |")
    return lines


def _cell(way: str, figures: Figures) -> str:
    if way not in figures:
        return ""
    return f"{figures[way]:.0f}" if way == "questions" else f"{figures[way]:.3f}"
