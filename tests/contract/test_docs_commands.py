"""The program and the database accept the commands and statements that the documentation shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from penstock.cli.program import COMMANDS, build
from tests.plugins.database import Database

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^(?P<indent>[ ]*)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
CALL = re.compile(r"^\s*\$ (?:\.venv/bin/)?penstock (?P<words>.*)$", re.MULTILINE)
OURS = re.compile(r"\b(?:queues|all_tenants|comms|ingest|search|accounts|files|api)\.\w+\(")


def blocks(language: str) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for found in FENCED.finditer(page.read_text(encoding="utf-8")):
            if found["language"] == language:
                yield str(page.relative_to(ROOT)), found["text"]


def commands() -> list[tuple[str, str]]:
    """Each `$ penstock …` line, continued lines joined."""
    return [
        (page, found["words"])
        for page, text in blocks("console")
        for found in CALL.finditer(text.replace("\\\n", " "))
    ]


def statements() -> list[tuple[str, str]]:
    """Each statement that calls one of our functions; the references show signatures instead."""
    return [
        (page, statement.strip())
        for page, text in blocks("sql")
        if not page.startswith("docs/reference/")
        for statement in re.sub(r"--[^\n]*", "", text).split(";")
        if OURS.search(statement) and "ops." not in statement
    ]


@cache
def program() -> Any:
    """All commands and their options, without what they run."""
    return get_command(build(tuple(COMMANDS)))


def complaint(words: list[str]) -> str | None:
    """What is wrong with a command line, by name of command and option; nothing is run."""
    command = program()
    positional = 0
    options: dict[str, TyperOption] = {}
    waiting = iter(words)
    for word in waiting:
        if isinstance(command, TyperGroup) and not word.startswith("-"):
            if word not in command.commands:
                return f"there is no command {word}"
            command = command.commands[word]
            options = {
                name: parameter
                for parameter in command.params
                if isinstance(parameter, TyperOption)
                for name in (*parameter.opts, *parameter.secondary_opts)
            }
        elif word.startswith("-") and not word.lstrip("-").replace(".", "").isdigit():
            name, equals, _ = word.partition("=")
            if name not in options:
                return f"there is no option {name}"
            if not equals and not options[name].is_flag and not options[name].count:
                next(waiting, None)
        else:
            positional += 1
    arguments = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    needed = sum(argument.required for argument in arguments)
    most = sum(argument.nargs if argument.nargs > 0 else 1_000 for argument in arguments)
    if not needed <= positional <= most:
        return f"it takes {needed} to {most} arguments, not {positional}"
    return None


@pytest.mark.parametrize(("page", "words"), commands())
def test_every_command_in_the_documentation_is_accepted_by_the_program(page: str, words: str) -> None:
    assert complaint(shlex.split(words, comments=True)) is None, page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nonsense", "there is no command nonsense"),
        ("search words --nonsense", "there is no option --nonsense"),
        ("explain", "it takes 1 to 1 arguments, not 0"),
    ],
)
def test_a_command_that_does_not_exist_is_found(words: str, said: str) -> None:
    assert complaint(shlex.split(words)) == said


@pytest.mark.parametrize(("page", "statement"), statements())
async def test_every_statement_in_the_documentation_is_accepted_by_the_database(
    page: str, statement: str, database: Database
) -> None:
    async with database.connect("operator") as connection:
        await connection.prepare(statement)  # names, parameters and types are checked; nothing runs
