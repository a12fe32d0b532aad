"""`penstock top`: stages, queues and workers in the terminal, refreshed until Ctrl-C."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import output
from penstock.cli.operate.top_tables import TopSection, sections
from penstock.cli.session import operator, run
from penstock.settings import Settings

if TYPE_CHECKING:
    from rich.console import Group

    from penstock.db import Connection
    from penstock.engine.overview import SystemSnapshot

Once = Annotated[bool, typer.Option("--once", help="Show it once and end.")]
Every = Annotated[float, typer.Option(min=0.2, max=3600, help="Seconds between refreshes.")]


def command(once: Once = False, every: Every = 2.0, as_json: output.AsJson = False) -> None:
    """Watch stages, queues and workers until Ctrl-C.

    In a pipe, and with --json, it shows them once.
    """

    async def call() -> None:
        from penstock.engine.overview import look

        async with operator() as connection:
            if as_json or once or not sys.stdout.isatty():
                _print(await look(connection, _price()), as_json=as_json)
            else:
                await _watch(connection, every)

    try:
        run(call())
    except KeyboardInterrupt:
        if as_json or once:
            raise  # it was not done yet; a view that is watched ends this way


def _price() -> float | None:
    return Settings().embedding_price_per_million_tokens


async def _watch(connection: Connection, every: float) -> None:
    from rich.live import Live

    from penstock.engine.overview import look

    with Live(_drawn(await look(connection, _price())), screen=True, auto_refresh=False) as live:
        while True:
            live.refresh()
            await asyncio.sleep(every)
            live.update(_drawn(await look(connection, _price())))


def _print(snapshot: SystemSnapshot, *, as_json: bool) -> None:
    if as_json:
        overview = snapshot.overview
        output.document(
            {
                "at": overview.at,
                "verdict": overview.verdict,
                "stages": overview.stages,
                "documents": overview.documents,
                "queues": snapshot.queues,
                "workers": snapshot.workers,
            }
        )
        return
    for number, section in enumerate(sections(snapshot)):
        if number:
            output.write("")
        if section.columns:
            output.table(section.columns, section.rows, empty=section.empty)
        for line in section.lines:
            output.write(output.cell(line))


def _drawn(snapshot: SystemSnapshot) -> Group:
    """The sections as rich draws them; whatever somebody named is plain text, never markup."""
    from rich.console import Group

    drawn: list[object] = []
    for section in sections(snapshot):
        drawn += [*_lines(section), ""]
    return Group(*drawn)  # type: ignore[arg-type]  # texts and tables, which is what it draws


def _lines(section: TopSection) -> Sequence[object]:
    from rich.table import Table
    from rich.text import Text

    found: list[object] = [Text(output.cell(line), style=section.style) for line in section.lines]
    if section.columns and section.rows:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for place, column in enumerate(section.columns):
            table.add_column(column, justify="left" if place == 0 else "right", no_wrap=True)
        for row in section.rows:
            table.add_row(*(Text(output.cell(value)) for value in row))
        found.append(table)
    elif section.columns:
        found.append(Text(section.empty, style="dim"))
    return found
