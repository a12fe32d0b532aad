"""Compares pages with what commands print: doctor's checks, and the settings of AI assistants."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli.mcp.clients import CLIENTS, Launch

ROOT = Path(__file__).parents[2]
DOCTOR = ROOT / "src" / "penstock" / "cli" / "doctor"
TABLE = re.compile(r"^\| check \| warns \| fails \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)


def names_in_code() -> Iterator[str]:
    """The first argument of each Check that doctor makes; what a variable stands for is told below."""
    for path in DOCTOR.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="Check"), args=[ast.Constant(value=str(name)), *_]):
                    yield name
                case ast.Call(func=ast.Name(id="Check"), args=[first, *_]):
                    yield from VARIABLE[ast.unparse(first)]


VARIABLE = {"f'push {kind}'": ("push outlook", "push gmail"), "name": ("checks", "reachable")}


@pytest.mark.parametrize("page", ["docs/operate/troubleshooting.md", "docs/reference/cli.md"])
def test_the_page_lists_every_check_of_doctor_and_no_other(page: str) -> None:
    [rows] = TABLE.findall((ROOT / page).read_text(encoding="utf-8"))
    firsts = [re.sub(r"`|\(.*\)", "", row.split("|")[1]) for row in rows.splitlines()]
    listed = [name.strip() for first in firsts for name in first.split(",")]
    assert sorted(listed) == sorted(set(names_in_code()))


def test_the_guide_shows_the_settings_that_are_printed_for_each_assistant() -> None:
    page = (ROOT / "docs" / "guides" / "mcp.md").read_text(encoding="utf-8")
    plain, typed = (json.loads(shown) for shown in re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    [server] = plain["mcpServers"].values()
    launch = Launch(server["command"], server["args"], server["env"])
    printed = {name: assistant.render(launch) for name, assistant in CLIENTS.items()}
    assert printed == {
        "claude-desktop": plain,
        "claude-code": typed,
        "cursor": typed,
        "vscode": {"servers": typed["mcpServers"]},
    }
