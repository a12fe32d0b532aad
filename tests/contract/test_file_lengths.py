"""Files are short enough to be read at once."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
MOST = 400
LONGER = {
    "tests/sql/queue_machine.py": "one state machine: every rule shares its model",
}


def lengths(folder: str) -> dict[str, int]:
    return {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for pattern in ("*.py", "*.sql")
        for path in (ROOT / folder).rglob(pattern)
    }


@pytest.mark.parametrize("folder", ["src", "tests", "bench", "tools", "examples"])
def test_no_file_is_longer_than_400_lines(folder: str) -> None:
    assert {path: n for path, n in lengths(folder).items() if n > MOST and path not in LONGER} == {}


def test_most_files_of_the_package_fit_on_two_screens() -> None:
    python = [n for path, n in lengths("src").items() if path.endswith(".py")]
    assert median(python) <= 100
