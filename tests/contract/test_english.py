"""The check of phrases we do not write finds them, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_english", ROOT / "tools" / "check_english.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def found(text: str) -> list[str]:
    return [hit[0] for pattern, _ in load().compiled() for hit in pattern.finditer(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Leave it away.",
        "it lets us not in",
        "is no positive number, nor none",
        "SIGTERM stops it in order.",
        "Until when it works.",
        "A ready task may wait so long.",
        "this delivery was here before",
        "WAL a task",
        "two attempts a message, at most",
        "at most so many",
        "so\n  -- many",
        "Whoever runs it",
        "of late",
        "the bug is mended",
        "a server of one's own",
        "two marks a lane",
        "an upload under way",
        "Tasks that workers enqueue by the clock.",
        "Each hit says why it is where it is.",
        "Something stands still:",
    ],
)
def test_a_phrase_we_do_not_write_is_found(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize(
    "text",
    [
        "in order to stop",
        "it ends in order of priority",
        "so many that it fails",
        "wait so long as it runs",
        "a recommended amendment",
        "of later releases",
        "the steps, in order",
        "a call takes a message",
        "attempts a worker makes at a time",
    ],
)
def test_ordinary_english_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_the_help_of_an_option_does_not_send_the_reader_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = load()
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    page = tmp_path / "command.py"
    page.write_text('LIMIT = option(help="The same.")\n# The same. As above.\n', encoding="utf-8")
    assert list(tool.found_in(page, tool.compiled())) == [
        'command.py:1: "The same.": write the help text again'
    ]


def test_code_in_a_page_is_not_read(tmp_path: Path) -> None:
    tool = load()
    page = tmp_path / "page.md"
    page.write_text("One.\n\n```python\nwhoever = 1\n```\n\nWhoever reads.\n", encoding="utf-8")
    words = tool.words_of(page)
    assert "whoever = 1" not in words
    assert words.splitlines()[6] == "Whoever reads."
