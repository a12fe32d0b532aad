"""Writes results to stdout: one JSON document, a table on a terminal, or plain columns in a pipe."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from penstock.observe.formats import escape

WRAPPED = ("error_message", "rate", "name", "value", "stated by", "sender", "subject", "why", "")
"""Columns of free text, which are wrapped to leave space for the others."""

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]


def with_code(code: object, message: object) -> str:
    """A document's reason code and message; messages of rejected documents already begin with their code."""
    first, text = str(code or ""), str(message or "")
    return text if text.startswith(f"{first}:") else ": ".join(part for part in (first, text) if part)


def document(value: Mapping[str, object], *, one_line: bool = False) -> None:
    """One JSON document; times are ISO 8601 in UTC, durations are seconds."""
    indent = 2 if sys.stdout.isatty() and not one_line else None
    write(json.dumps(value, default=_plain, indent=indent, ensure_ascii=False))


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str = "No rows.") -> None:
    """Write rows for people; control characters in values are escaped."""
    if not rows:
        if sys.stdout.isatty():
            write(empty)
        return
    cells = [[cell(value) for value in row] for row in rows]
    write(_rich_table(columns, cells) if sys.stdout.isatty() else _plain_table(columns, cells))


def records(columns: Sequence[str], rows: Sequence[object], *, empty: str = "No rows.") -> None:
    """Write these fields of the rows as a table."""
    table(columns, [[getattr(row, name) for name in columns] for row in rows], empty=empty)


def facts(pairs: Mapping[str, object]) -> None:
    """Write names and values, one per line; nested values as JSON."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        text = json.dumps(value, default=_plain) if isinstance(value, dict | list) else cell(value)
        write(f"{name.ljust(width)}  {escape(text)}")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: 1 file, 2 files, 1,000 queries."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def cell(value: object) -> str:
    """One value as text for people."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.1f}"
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return escape(str(value))


def write(text: str, *, end: str = "\n") -> None:
    """Write a line to stdout; exit quietly if the reader has closed the pipe."""
    try:
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding), end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case timedelta():
            return value.total_seconds()
        case _:
            return str(value)


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (columns, *rows)
    ]
    return "\n".join(lines)


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for place, column in enumerate(columns):
        drawn.add_column(
            column,
            no_wrap=column not in WRAPPED,
            overflow="fold" if column in WRAPPED else "ellipsis",
            # An id is there to be copied.
            min_width=max((len(row[place]) for row in rows), default=0) if column.endswith("_id") else None,
        )
    for row in rows:
        drawn.add_row(*map(Text, row))
    console = Console()
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().rstrip("\n")
