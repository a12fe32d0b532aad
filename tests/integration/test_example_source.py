"""The example of a source of your own: its tests pass, and its customers become documents and clients."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from tests.integration.test_example_project import fine
from tests.integration.test_new_process_in_a_project import WITHOUT
from tests.plugins.command_line import CommandLine

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_source"
CUSTOMERS = """\
id,name,website,contract_value,notes
1,Hollow Reed Paper,https://hollowreed.example,1200.50,They rent the north wheel
2,Blue Barn Bakery,bluebarn.example,340,Flour on Tuesdays
3,,nameless.example,5,
"""


def install(site: Path) -> None:
    """What pip leaves behind of the project, without a build."""
    about = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copytree(EXAMPLE / "src" / "customer_list", site / "customer_list")
    info = site / "customer_list-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: customer-list\nVersion: 1.0\n")
    ((group, points),) = about["entry-points"].items()
    (info / "entry_points.txt").write_text(f"[{group}]\ncustomer_list = {points['customer_list']}\n")


@pytest.mark.timeout(180)
def test_a_source_of_your_own_passes_its_tests_and_becomes_documents_and_clients(
    penstock: CommandLine, tmp_path: Path
) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    install(site)
    work.mkdir()
    (work / "customers.csv").write_text(CUSTOMERS)
    line = CommandLine(work, {**penstock.variables, "PYTHONPATH": str(site)})
    tests = line.python("-m", "pytest", "-q", *WITHOUT, str(EXAMPLE / "tests"))
    assert "2 passed" in fine(tests).out
    fine(line("migrate"))
    fine(line("tenant", "create", "default"))
    added = fine(line("source", "add", "customer_list", "customers.csv", "--no-wait", "--json")).json
    fine(line("worker", "--until-empty", timeout=120))
    shown = fine(line("source", "show", added["source"]["source_id"], "--json")).json
    (job,) = shown["jobs"]
    assert (job["status"], job["items_written"], shown["health"]["state"]) == ("completed", 2, "healthy")
    (failure,) = job["error_details"]
    assert (failure["id"], failure["path"]) == ("3", "name")
    (hit,) = fine(line("search", "north wheel", "--limit", "1", "--json")).json["hits"]
    assert hit["title"] == "Hollow Reed Paper"
    shown = fine(line("client", "show", "blue barn bakery", "--json")).json
    assert [(fact["name"], fact["value"], fact["source"]) for fact in shown["facts"]] == [
        ("contract_value", 340, "customer_list")
    ]
