"""Progress bars on stderr, only when stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar, updated with the amount done so far; without a total it counts bytes."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

    amount = DownloadColumn() if total is None else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount)
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(title, total=total)
        yield lambda done: shown.update(task, completed=done)


@contextmanager
def phases() -> Iterator[Callable[[str, int, int | None], None]]:
    """One line with the current step and its progress; without a total it counts bytes."""
    if not sys.stderr.isatty():
        yield lambda title, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=None, amount="")

        def show(title: str, done: int, total: int | None) -> None:
            amount = f"{done:,} bytes" if total is None else f"{done:,} of {total:,}"
            shown.update(task, description=title, completed=done, total=total, amount=amount)

        yield show
