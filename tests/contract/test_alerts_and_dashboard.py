"""The alert rules and the dashboard name metrics, labels, commands and pages that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from penstock.api.request_counts import RequestCounts
from penstock.cli.program import COMMANDS
from penstock.observe import Metrics

ROOT = Path(__file__).parents[2]
RULES = (ROOT / "deploy/prometheus/penstock.rules.yml").read_text(encoding="utf-8")
PANELS = json.loads((ROOT / "deploy/grafana/penstock.json").read_text(encoding="utf-8"))["panels"]
METRIC = re.compile(r"\b((?:job|http|mail|process)_[a-z_]+)\b(?=[\[{)]| [>=]|$)", re.M)
PROCESS = {"process_resident_memory_bytes", "process_cpu_seconds_total"}
"""Of the Prometheus client, on Linux."""


def exported() -> set[str]:
    """The names of the series of workers and of the API, histograms with their parts."""
    registry = CollectorRegistry()
    RequestCounts(registry)
    described = [*Metrics().render().decode().splitlines()]
    names = {line.split()[2] for line in described if line.startswith("# TYPE job_")}
    names |= {f"{family.name}_total" for family in registry.collect() if family.type == "counter"}
    names |= {f"{family.name}_bucket" for family in registry.collect() if family.type == "histogram"}
    names |= {line.split()[2] + "_bucket" for line in described if line.endswith(" histogram")}
    return names | {"mail_notifications_total"} | PROCESS


def expressions() -> list[str]:
    found = re.findall(r"^        expr: (?:\|\n((?: {10}.*\n)+)|(.+)$)", RULES, re.MULTILINE)
    rules = [block or line for block, line in found]
    return rules + [target["expr"] for panel in PANELS for target in panel["targets"]]


@pytest.mark.parametrize("expression", expressions())
def test_every_metric_that_is_asked_for_exists(expression: str) -> None:
    asked = set(METRIC.findall(expression)) - {"job_type"}
    assert asked
    assert asked - exported() == set()


def test_every_rule_says_what_happened_and_what_to_do() -> None:
    rules = RULES.split("- alert: ")[1:]
    assert len(rules) == len([each for each in expressions() if each not in _panel_expressions()])
    for rule in rules:
        for field in ("severity", "summary", "description"):
            assert re.search(rf"^ +{field}: \S", rule, re.MULTILINE), rule.splitlines()[0]


def test_the_rules_name_commands_and_pages_that_exist() -> None:
    assert set(re.findall(r"penstock ([a-z]+)", RULES)) <= {*COMMANDS}
    assert [page for page in re.findall(r"docs/[\w/.-]+\.md", RULES) if not (ROOT / page).exists()] == []


def _panel_expressions() -> set[str]:
    return {target["expr"] for panel in PANELS for target in panel["targets"]}
