"""Turns the rounds of a run into medians, verdicts, a JSON record and a Markdown page."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.job import Figures
from bench.workloads import Judged, Verdict

RESULTS = Path(__file__).parent / "results"
Facts = Mapping[str, object]


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    workload: Judged
    rounds: Mapping[str, Sequence[Figures]]

    @property
    def medians(self) -> dict[str, Figures]:
        return {
            case: {key: statistics.median(figures[key] for figures in seen) for key in seen[0]}
            for case, seen in self.rounds.items()
        }

    @property
    def verdicts(self) -> list[Verdict]:
        return self.workload.judge(self.medians)


def as_json(facts: Facts, outcomes: Sequence[Outcome]) -> str:
    workloads = {
        outcome.workload.name: {
            "title": outcome.workload.title,
            "medians": outcome.medians,
            "rounds": outcome.rounds,
            "verdicts": [{**dataclasses.asdict(v), "passed": v.passed} for v in outcome.verdicts],
        }
        for outcome in outcomes
    }
    return json.dumps({**facts, "workloads": workloads}, indent=2) + "\n"


def as_markdown(facts: Facts, outcomes: Sequence[Outcome]) -> str:
    lines = heading(facts, [verdict for outcome in outcomes for verdict in outcome.verdicts])
    for outcome in outcomes:
        lines += ["", *table(outcome)]
    return "\n".join(lines) + "\n"


def heading(facts: Facts, verdicts: Sequence[Verdict]) -> list[str]:
    """The page's title, what was measured where, and the required figures."""
    lines = ["# Benchmark", ""]
    for name, fact in facts.items():
        text = ", ".join(f"{k} {v}" for k, v in fact.items()) if isinstance(fact, Mapping) else str(fact)
        lines.append(f"- {name}: {text}")
    if verdicts:
        lines += ["", "## Required figures", "", "| what | required | measured | |", "|---|--:|--:|---|"]
        lines += [verdict_row(verdict) for verdict in verdicts]
    return lines


def verdict_row(verdict: Verdict) -> str:
    sign = "≥" if verdict.at_least else "≤"
    result = "pass" if verdict.passed else "**FAIL**"
    return f"| {verdict.claim} | {sign} {verdict.required:g} | {verdict.measured:.2f} | {result} |"


def table(outcome: Outcome) -> list[str]:
    """Medians, with each case's lead column as a multiple of the first case's."""
    columns = outcome.workload.columns
    medians = outcome.medians
    lead = columns[0].key
    reference = next(iter(medians.values()))[lead]
    count = len(next(iter(outcome.rounds.values())))
    headings = ["", *(column.heading for column in columns), f"times {next(iter(medians))}", "range"]
    lines = [f"## {outcome.workload.title}", "", f"Median of {count} interleaved rounds.", ""]
    lines += ["| " + " | ".join(headings) + " |", "|---|" + "--:|" * (len(headings) - 1)]
    for case, figures in medians.items():
        seen = [row[lead] for row in outcome.rounds[case]]
        cells = [f"{figures[column.key]:,.{column.digits}f}" for column in columns]
        digits = columns[0].digits
        spread = f"{min(seen):,.{digits}f} to {max(seen):,.{digits}f}"
        multiple = f"{figures[lead] / reference:.2f}" if reference else ""
        lines.append("| " + " | ".join([case, *cells, multiple, spread]) + " |")
    return lines


def show(page: str) -> None:
    try:
        from rich.console import Console
        from rich.markdown import Markdown
    except ImportError:
        print(page)
    else:
        Console().print(Markdown(page))


def write(name: str, facts: Facts, outcomes: Sequence[Outcome]) -> Path:
    page = as_markdown(facts, outcomes)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(as_json(facts, outcomes))
    path = RESULTS / f"{name}.md"
    path.write_text(page)
    return path
