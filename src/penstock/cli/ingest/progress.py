"""The progress of an ingest on a terminal: one bar, and how many documents are in each stage."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.model import DocumentStatus

Draw = Callable[[int, int, str], None]

SHOWN = (
    DocumentStatus.PENDING,
    DocumentStatus.PROCESSING,
    DocumentStatus.EMBEDDING,
    DocumentStatus.INDEXED,
    DocumentStatus.SKIPPED,
    DocumentStatus.FAILED,
)


def stages(counts: Counter[DocumentStatus]) -> str:
    """`pending 3  processing 2  indexed 10`: every stage that is not empty."""
    return "  ".join(f"{status} {counts[status]:,}" for status in SHOWN if counts[status])


@contextmanager
def stage_bar(*, quiet: bool) -> Iterator[Draw]:
    """A bar updated with how many are done, of how many, and a text beside it."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as shown:
        task = shown.add_task("", total=None)
        yield lambda done, total, text: shown.update(task, completed=done, total=total, description=text)
