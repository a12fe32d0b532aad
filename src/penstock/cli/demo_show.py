"""How the demo looks: a live bar on a terminal, a line a second elsewhere, nothing when JSON is wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from penstock.cli.demo_counts import Counts

LINE_SECONDS = 1.0


@dataclass(slots=True)
class Show:
    """Told of every look at the counts; decides by itself how often to write."""

    write: Callable[[str], None]
    draw: Callable[[Counts, str], None] | None = None
    wrote_at: float = 0.0
    looked_at: float = 0.0
    done: int = 0
    rate: float = 0.0

    def say(self, text: str) -> None:
        self.write(text)

    def look(self, counts: Counts) -> None:
        now = monotonic()
        if self.looked_at:
            fresh = (counts.done + counts.dead - self.done) / (now - self.looked_at)
            self.rate = fresh if not self.rate else 0.7 * self.rate + 0.3 * fresh
        self.looked_at, self.done = now, counts.done + counts.dead
        text = (
            f"queued {counts.queued:,}  leased {counts.running:,}  done {counts.done:,}  "
            f"failed {counts.failures:,}  dead {counts.dead:,}  {self.rate:,.0f}/s"
        )
        if self.draw is not None:
            self.draw(counts, text)
        elif now - self.wrote_at >= LINE_SECONDS or counts.drained:
            self.wrote_at = now
            self.write(f"  {text}")


@contextmanager
def showing(total: int, *, quiet: bool) -> Iterator[Show]:
    """The show that fits where stderr goes."""
    if quiet:
        yield Show(lambda text: None)
        return
    if not sys.stderr.isatty():
        yield Show(lambda text: print(text, file=sys.stderr, flush=True))
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True, highlight=False)
    columns = (BarColumn(bar_width=16), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as live:
        bar = live.add_task("", total=total, visible=False)

        def draw(counts: Counts, text: str) -> None:
            live.update(bar, completed=counts.done + counts.dead, description=text, visible=True)

        yield Show(console.print, draw)
