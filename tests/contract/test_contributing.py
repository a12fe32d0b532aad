"""The table in CONTRIBUTING.md that says where to find things names files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = (
    "a parser for another type",
    "another embedder",
    "email's backoff",
    "a column in `document list`",
    "an HTTP endpoint for messages",
    "another blob store",
    "the default lease",
    "a new provider",
    "a rule for mail",
    "a class of documents, or its examples",
    "a new error",
    "a metric's name",
    "how scores are fused",
    "an hourly duty",
)


def rows() -> dict[str, tuple[str, str]]:
    """What the table says for each thing: the files to open, and the note."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- where:begin -->\n(.*?)<!-- where:end -->", page, re.DOTALL)
    assert table is not None
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()[2:]]
    return {thing: (files, note) for thing, files, note in cells}


def test_the_table_answers_every_question_a_newcomer_asks() -> None:
    assert tuple(rows()) == QUESTIONS


@pytest.mark.parametrize("thing", QUESTIONS)
def test_every_path_the_table_names_exists(thing: str) -> None:
    files, note = rows()[thing]
    opened = re.findall(r"`([^`]+)`", files)
    mentioned = [name for name in re.findall(r"`([^`]+)`", note) if name.startswith(("src/", "docs/"))]
    assert opened
    assert [path for path in [*opened, *mentioned] if not (ROOT / path).exists()] == []
