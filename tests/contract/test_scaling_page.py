"""The page about scaling says what the recorded benchmarks say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bench import report
from bench.scale.carries import ROWS, carries
from bench.scale.tables import PAGE, marked, parts, write_page

REMEDY = "run `python -m bench scale --page` and commit the page"


def test_the_page_has_the_figures_of_the_recorded_results() -> None:
    page = PAGE.read_text("utf-8")
    for name, part in parts(report.RESULTS).items():
        found = marked(name).search(page)
        assert found is not None, name
        assert found[1] == part, REMEDY


def test_writing_the_page_twice_changes_nothing_else(tmp_path: Path) -> None:
    copy = tmp_path / "page.md"
    copy.write_text(PAGE.read_text("utf-8"), "utf-8")
    write_page(report.RESULTS, copy)
    assert copy.read_text("utf-8") == PAGE.read_text("utf-8"), REMEDY


def test_every_recorded_result_has_the_figures_that_the_page_shows() -> None:
    """A renamed workload would silently drop out of the table; one that has not run yet may be missing."""
    later = {"shapes", "fleet"}
    missing = []
    for row in ROWS:
        results = json.loads((report.RESULTS / f"{row.results}.json").read_text())
        if row.case not in results["workloads"].get(row.workload, {}).get("medians", {}):
            missing.append(row.workload)
    assert set(missing) <= later


def test_a_benchmark_that_was_never_run_leaves_no_row(tmp_path: Path) -> None:
    assert carries(tmp_path).splitlines() == ["| | measured | by |", "|---|---|---|"]


def test_every_metric_on_the_page_exists() -> None:
    named = set(re.findall(r"`((?:job|inlet|mail)_[a-z_]+)", PAGE.read_text("utf-8")))
    known = (PAGE.parent / "monitoring.md").read_text("utf-8")
    assert named
    assert {name for name in named if f"`{name}`" not in known} == set()
