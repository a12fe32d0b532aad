"""Tests that failed among others are run again alone: what fails again, and what many failures mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tools import failed_again

if TYPE_CHECKING:
    import pytest

PASSES, FAILS = "test_it.py::test_that_passes", "test_it.py::test_that_fails"


def failed(folder: Path, *tests: str) -> Path:
    (folder / "test_it.py").write_text(
        "def test_that_passes():\n    pass\n\n\ndef test_that_fails():\n    assert False\n"
    )
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --disable-plugin-autoload -p xdist\n")
    file = folder / failed_again.FAILED
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(dict.fromkeys(tests, True)))
    return folder


def test_a_test_that_passes_alone_is_named_as_unsteady(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert failed_again.main(failed(tmp_path, PASSES)) == 0
    assert f"UNSTEADY, fix its cause: failed among others, passed alone: {PASSES}" in capfd.readouterr().out


def test_a_test_that_fails_alone_too_fails_the_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert failed_again.main(failed(tmp_path, PASSES, FAILS)) == 1
    assert f"Failed again: {FAILS}" in capfd.readouterr().out


def test_many_failures_are_not_put_down_to_chance(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert failed_again.main(failed(tmp_path, *(f"{PASSES}{n}" for n in range(failed_again.MOST + 1)))) == 1
    assert "are not run again" in capfd.readouterr().out


def test_a_run_that_ended_before_its_tests_is_a_failure(tmp_path: Path) -> None:
    assert failed_again.main(tmp_path) == 1
