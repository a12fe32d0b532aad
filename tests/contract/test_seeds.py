"""The page that maps the five plans to the code names only what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from penstock.cli.program import COMMANDS, build
from penstock.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| it asks")]


def where(row: str) -> list[str]:
    """What a row names as the place where a part lives, and as its tests."""
    cells = row.strip("|").split(" | ")
    return [name for cell in cells[1:3] for name in CODE.findall(cell)]


def test_every_path_the_page_names_exists() -> None:
    paths = {
        name for name in CODE.findall(PAGE) if re.match(r"(src|tests|docs|examples|deploy|console)/", name)
    }
    assert len(paths) > 80
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


@pytest.mark.parametrize(
    "words", sorted({name for row in ROWS for name in where(row) if name.startswith("penstock ")})
)
def test_every_command_the_page_names_exists(words: str) -> None:
    command = get_command(build(tuple(COMMANDS)))
    for word in words.split()[1:]:
        assert isinstance(command, TyperGroup)
        assert word in command.commands
        command = command.commands[word]


def test_every_setting_the_page_names_exists() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    assert {name for name in CODE.findall(PAGE) if name.startswith(PREFIX)} - known == set()


def test_every_endpoint_the_page_names_is_in_the_reference() -> None:
    calls = {name for row in ROWS for name in where(row) if re.match(r"(GET|POST|PUT|PATCH|DELETE) /", name)}
    assert calls
    assert {call for call in calls if call not in REFERENCE} == set()


def test_every_part_of_a_plan_says_where_it_lives() -> None:
    assert [row for row in ROWS if not where(row) and "](" not in row] == []
