"""Every file in examples/ runs as it stands, against a database of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.command_line import addresses
from tests.plugins.database import Database

EXAMPLES = Path(__file__).parents[2] / "examples"

EXPECTED = {
    "documents.py": ["Delivery None Delivery If the delivery is late, the supplier pays"],
    "ten_lines.py": ["Welcome, ada@example.com!"],
    "sql_producer.py": ["Welcome, grace@example.com!"],
    "retries.py": [
        "run 1 of good",
        "run 1 of busy",
        "run 2 of busy",
        "run 1 of nonsense",
        "ValueError is kept",
    ],
    "schedules.py": ["next: ", "report for Graz"],
    "transactional.py": ["receipt for 4200 cents"],
}


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == EXPECTED.keys()


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_example_runs_as_it_stands(database: Database, tmp_path: Path, name: str) -> None:
    environment = {**os.environ, **addresses(database), "PENSTOCK_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for line in EXPECTED[name]:
        assert done.stdout.count(line) == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_example_is_short(name: str) -> None:
    lines = [line for line in (EXAMPLES / name).read_text().splitlines() if line.strip()]
    assert len(lines) <= 30
