"""The import contracts in pyproject.toml reject what they say they reject."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = "from importlinter.cli import lint_imports_command as run; run()"

VIOLATIONS = {
    "without_a_layer/__init__.py": ('"""A new package."""', "penstock.without_a_layer"),
    "sql/reaching_up.py": (
        "import penstock.db.pause",
        "penstock.sql.reaching_up -> penstock.db.pause",
    ),
    "documents/beside.py": (
        "import penstock.search.query",
        "penstock.documents.beside -> penstock.search.query",
    ),
    "pipeline/parse/beside.py": (
        "import penstock.pipeline.chunk.plan",
        "penstock.pipeline.parse.beside -> penstock.pipeline.chunk.plan",
    ),
    "pipeline/without_a_layer.py": ('"""A new stage."""', "penstock.pipeline.without_a_layer"),
    "sources/gmail/beside.py": (
        "import penstock.sources.google_drive.records",
        "penstock.sources.gmail.beside -> penstock.sources.google_drive.records",
    ),
    "api/driving.py": ("import asyncpg", "penstock.api.driving -> asyncpg"),
    "api/simulating.py": (
        "import penstock.simulators.sms_gateway",
        "penstock.api.simulating -> penstock.simulators.sms_gateway",
    ),
    "cli/doctor/simulating.py": (
        "import penstock.simulators.sms_gateway",
        "penstock.cli.doctor.simulating -> penstock.simulators.sms_gateway",
    ),
    "cli/demo/testing.py": (
        "import penstock.testing.clock",
        "penstock.cli.demo.testing -> penstock.testing.clock",
    ),
    "testing/pytest_elsewhere.py": ("import pytest", "penstock.testing.pytest_elsewhere -> pytest"),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What import-linter says about a copy of the package that breaks every contract."""
    folder = tmp_path_factory.mktemp("layers")
    shutil.copytree(
        ROOT / "src/penstock",
        folder / "penstock",
        ignore=shutil.ignore_patterns("__pycache__", "*.sql", "*.json"),
    )
    shutil.copy(ROOT / "pyproject.toml", folder)
    for path, (line, _) in VIOLATIONS.items():
        (folder / "penstock" / path).parent.mkdir(exist_ok=True)
        (folder / "penstock" / path).write_text(f"{line}\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize("path", VIOLATIONS)
def test_a_module_that_breaks_the_layers_fails_the_check(report: str, path: str) -> None:
    assert VIOLATIONS[path][1] in report


def test_every_contract_can_fail(report: str) -> None:
    assert "Contracts: 0 kept" in report
