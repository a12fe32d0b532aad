"""The demo's progress: a live bar on a terminal, a line per second elsewhere, nothing with --json."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

LINE_SECONDS = 1.0


@dataclass(slots=True)
class DemoProgress:
    """Receives every count and decides how often to write."""

    write: Callable[[str], None]
    draw: Callable[[int, int, str], None] | None = None
    wrote_at: float = 0.0
    wrote: str = ""

    def say(self, text: str) -> None:
        self.write(text)

    def update(self, done: int, total: int, text: str) -> None:
        now = monotonic()
        if self.draw is not None:
            self.draw(done, total, text)
        elif text != self.wrote and (now - self.wrote_at >= LINE_SECONDS or done == total):
            self.wrote_at, self.wrote = now, text
            self.write(f"  {text}")


@dataclass(slots=True)
class DemoRate:
    """Items per second, smoothed over the last counts."""

    looked_at: float = 0.0
    done: int = 0
    value: float = 0.0

    def after(self, done: int) -> float:
        now = monotonic()
        if self.looked_at:
            fresh = (done - self.done) / (now - self.looked_at)
            self.value = fresh if not self.value else 0.7 * self.value + 0.3 * fresh
        self.looked_at, self.done = now, done
        return self.value


@contextmanager
def demo_progress(*, quiet: bool) -> Iterator[DemoProgress]:
    """The progress display that suits where stderr goes."""
    if quiet:
        yield DemoProgress(lambda text: None)
        return
    if not sys.stderr.isatty():
        yield DemoProgress(lambda text: print(text, file=sys.stderr, flush=True))
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True, highlight=False)
    columns = (BarColumn(bar_width=16), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as live:
        bar = live.add_task("", visible=False)

        def draw(done: int, total: int, text: str) -> None:
            live.update(bar, completed=done, total=total, description=text, visible=True)

        yield DemoProgress(lambda text: console.print(text, markup=False), draw)
