"""A copy of the package's SQL that a test may change."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the SQL in the package, to be changed."""
    with as_file(files("penstock.sql")) as original:
        shutil.copytree(original, tmp_path / "sql")
    return tmp_path / "sql"


def add(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)
