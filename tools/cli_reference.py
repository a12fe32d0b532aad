"""Writes docs/reference/commands.md: every command with its arguments and options, from the program."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from penstock.cli.program import COMMANDS, build

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
INTRO = """# Command line: every command

On this page you can look up each command with its arguments and options. It is written by `make generate`
from the program itself, and says what `--help` says; [Command line](cli.md) explains exit codes, what goes
where, which database a command uses, and the keys of `--json`, which every command takes.
"""
WIDTH = 118


def page() -> str:
    command: Any = get_command(build(tuple(COMMANDS)))
    parts = [INTRO]
    for words, found in _commands(command, ()):
        parts.append(_section(words, found))
    return "\n".join(parts)


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(command, TyperGroup):
        yield words, command
        return
    for name, inner in sorted(command.commands.items()):
        if not inner.hidden:
            yield from _commands(inner, (*words, name))


def _section(words: tuple[str, ...], command: Any) -> str:
    arguments = [each for each in command.params if isinstance(each, TyperArgument)]
    options = [
        each
        for each in command.params
        if isinstance(each, TyperOption) and not each.hidden and each.name not in ("help", "as_json")
    ]
    usage = " ".join(_argument(each) for each in arguments)
    told = inspect.cleandoc(command.help or "").split("\n\n")
    lines = [
        f"## {' '.join(words)}",
        "",
        "```text",
        f"penstock {' '.join(words)} {usage}".rstrip(),
        "```",
        "",
    ]
    for paragraph in told:
        lines += [textwrap.fill(" ".join(paragraph.split()), WIDTH, break_on_hyphens=False), ""]
    rows = [(_argument(each), each.help) for each in arguments if each.help]
    rows += [(_option(each), _about(each)) for each in options]
    if rows:
        lines += ["| | |", "|---|---|"]
        lines += [f"| `{_cell(name)}` | {_cell(about or '')} |" for name, about in rows]
        lines.append("")
    return "\n".join(lines)


def _argument(argument: TyperArgument) -> str:
    name = argument.metavar or str(argument.name).upper()
    dots = "…" if argument.nargs == -1 else ""
    return f"{name}{dots}" if argument.required else f"[{name}{dots}]"


def _option(option: TyperOption) -> str:
    names = ", ".join([*reversed(option.opts)] if len(option.opts) > 1 else option.opts)
    if option.secondary_opts:
        names += "/" + option.secondary_opts[0]
    if option.is_flag:
        return names
    return f"{names} {option.metavar or _kind(option)}"


KINDS = {"int": "N", "float": "N", "str": "TEXT", "Path": "PATH", "UUID": "UUID", "datetime": "TIME"}


def _kind(option: TyperOption) -> str:
    """What an option takes; the values if there are few."""
    wanted = option.type_descriptor.annotation
    members = [each for each in get_args(wanted) or (wanted,) if each is not type(None)]
    if all(isinstance(each, str) for each in members):
        return "|".join(members)
    if isinstance(members[0], type) and issubclass(members[0], Enum):
        return "|".join(str(each.value) for each in members[0])
    values = [value for each in members for value in get_args(each)]
    if values and all(isinstance(value, str) for value in values):
        return "|".join(values)
    return KINDS.get(getattr(members[0], "__name__", ""), "VALUE")


def _about(option: TyperOption) -> str:
    about = option.help or ""
    default = option.default
    shown = default not in (None, False, (), []) and not callable(default) and not option.is_flag
    least, most = option.min, option.max
    notes = [f"default {getattr(default, 'value', default)}"] if shown else []
    if least is not None and most is not None:
        notes.append(f"{least:,} to {most:,}")
    if option.multiple and "repeated" not in about:
        notes.append("may be repeated")
    if option.required:
        notes.append("required")
    return f"{about} ({'; '.join(notes)})" if notes else about


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
