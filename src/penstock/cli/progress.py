"""Progress on stderr, and only when stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar that is told how much is done so far; without a total it counts bytes."""
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
