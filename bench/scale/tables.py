"""The tables of a scenario: in the results, and as the generated part of the page about scaling."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.scale.carries import carries
from bench.scale.scenario import DEPTH_HOURS
from bench.workloads import Column, Medians, Verdict

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "scaling.md"


class Scenarios:
    name = "scenarios"
    title = "Predicted: delay in seconds, by class of tenant, and cost"
    columns = (
        Column("machines", "machines"),
        Column("deepest", "deepest queue"),
        Column("deep_hours", "h above 10,000", 1),
        Column("large_p50", "large p50", 1),
        Column("large_p95", "large p95", 1),
        Column("medium_p50", "medium p50", 1),
        Column("medium_p95", "medium p95", 1),
        Column("small_p50", "small p50", 1),
        Column("small_p95", "small p95", 1),
        Column("import_p95", "import p95"),
        Column("end_hours", "last one after h", 1),
        Column("machine_hours", "machine hours"),
        Column("token_cost", "tokens cost", 2),
        Column("busy", "machines busy", 2),
        Column("database_busy", "database busy", 2),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        return []


class Depth:
    name = "depth"
    title = "Predicted: documents waiting"
    columns = tuple(Column(f"after_{hour}", f"after {hour} h") for hour in DEPTH_HOURS)

    def judge(self, medians: Medians) -> list[Verdict]:
        return []


def generated(results: Mapping[str, Any]) -> str:
    """The part of the page that says what was predicted, from the results' JSON."""
    parts = results["workloads"]
    check, scenarios, depth = (parts[name]["medians"] for name in ("check", "scenarios", "depth"))
    machine = results["machine"]
    lines = [
        f"Measured {results['date'][:10]} on {machine['cores']} cores (load {machine['load_before']}).",
        "",
        "| the checked run | measured | predicted |",
        "|---|--:|--:|",
    ]
    rows = (
        ("seconds", "all documents indexed after", "s"),
        ("p50", "delay, p50", "s"),
        ("p95", "delay, p95", "s"),
        ("small_p95", "delay of the small tenants, p95", "s"),
        ("mean_depth", "documents waiting, mean", ""),
        ("most_depth", "documents waiting, most", ""),
    )
    for key, told, unit in rows:
        cells = " | ".join(f"{check[case][key]:,.1f} {unit}".strip() for case in ("measured", "predicted"))
        lines.append(f"| {told} | {cells} |")
    heads = "| embedder, machines | delay p50 / p95: large | medium | small | imports p95 | deepest queue "
    lines += [
        "",
        heads + "| machine hours | tokens cost | machines busy | database busy |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for case, seen in scenarios.items():
        delays = " | ".join(
            f"{duration(seen[f'{name}_p50'])} / {duration(seen[f'{name}_p95'])}"
            for name in ("large", "medium", "small")
        )
        lines.append(
            f"| {case} | {delays} | {duration(seen['import_p95'])} | {seen['deepest']:,.0f} "
            f"| {seen['machine_hours']:,.0f} | {seen['token_cost']:,.0f} "
            f"| {seen['busy']:.0%} | {seen['database_busy']:.0%} |"
        )
    lines += [
        "",
        "| documents waiting after | " + " | ".join(f"{hour} h" for hour in DEPTH_HOURS) + " |",
        "|---|" + "--:|" * len(DEPTH_HOURS),
    ]
    for case, seen in depth.items():
        lines.append(
            f"| {case} | " + " | ".join(f"{seen[f'after_{hour}']:,.0f}" for hour in DEPTH_HOURS) + " |"
        )
    return "\n".join(lines)


def duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"


def parts(folder: Path) -> dict[str, str]:
    """The generated parts of the page by name, from the results in a folder."""
    scale = folder / "scale.json"
    return {
        "carries": carries(folder),
        **({"scale": generated(json.loads(scale.read_text()))} if scale.exists() else {}),
    }


def write_page(folder: Path, page: Path = PAGE) -> None:
    """Put the results into the page."""
    text = page.read_text()
    for name, part in parts(folder).items():
        before, after = marked(name).split(text, 1)[::2]
        text = before + _between(name, part) + after
    page.write_text(text)


def marked(name: str) -> re.Pattern[str]:
    """Finds a generated part."""
    return re.compile(rf"<!-- {name}:begin -->\n(.*?)\n?<!-- {name}:end -->", re.DOTALL)


def _between(name: str, part: str) -> str:
    return f"<!-- {name}:begin -->\n{part}\n<!-- {name}:end -->"
