"""The end of the queue demo: the counts, and what to try next."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.cli import output
from penstock.cli.demo.counts import Counts


@dataclass(frozen=True, slots=True)
class DemoResult:
    counts: Counts
    killed_pid: int
    held_by_killed: int
    seconds: float
    data_dir: Path

    @property
    def whole(self) -> bool:
        """Nothing is missing, nothing was done twice, and nothing is left."""
        counts = self.counts
        return counts.drained and counts.lost == 0 and counts.done_twice == 0


def show_result(result: DemoResult, *, as_json: bool) -> None:
    counts = result.counts
    if as_json:
        output.document(
            {
                "enqueued": counts.enqueued,
                "done": counts.done,
                "dead": counts.dead,
                "left": counts.queued + counts.running,
                "lost": counts.lost,
                "done_twice": counts.done_twice,
                "failed_attempts": counts.failures,
                "killed_pid": result.killed_pid,
                "held_by_killed": result.held_by_killed,
                "rescued": counts.rescued,
                "seconds": round(result.seconds, 3),
                "rate": round((counts.done + counts.dead) / result.seconds, 1),
                "data_dir": str(result.data_dir),
            }
        )
        return
    rows = [
        ("enqueued", counts.enqueued, ""),
        (
            "done",
            counts.done,
            "each completed once" if not counts.done_twice else f"{counts.done_twice} completed twice",
        ),
        ("dead", counts.dead, "out of attempts, kept, can be replayed"),
        ("lost", counts.lost, "neither done, dead nor waiting"),
        ("failed attempts", counts.failures, "retried by their policy"),
        (
            "rescued",
            counts.rescued,
            f"of {output.count(result.held_by_killed, 'task')} the killed worker held",
        ),
        (
            "seconds",
            result.seconds,
            f"{(counts.done + counts.dead) / result.seconds:,.0f} tasks/s of 5 ms each",
        ),
    ]
    output.write("")
    output.table(("count", "tasks", ""), rows)
    output.write("")
    output.write(
        "Nothing was lost." if result.whole else f"Something is wrong: see {result.data_dir}/worker-*.log."
    )
    next_steps(
        result.data_dir,
        (
            ("queue stats", "waiting, running and dead tasks"),
            ("dead list --by-fingerprint", "why tasks died"),
            ("task list --state lost", "what the killed worker held"),
            ("explain ID", "why a task is in its state"),
            ("doctor", "check the whole installation"),
        ),
    )


def next_steps(data_dir: Path, steps: Sequence[tuple[str, str]]) -> None:
    """Write commands to try, each with its purpose."""
    program = "penstock" if shutil.which("penstock") else near(sys.argv[0])
    output.write(
        "\nTo look at what the demo left behind (the server starts automatically):\n  export "
        f"PENSTOCK_DATA_DIR={near(str(data_dir))}"
    )
    width = len(program) + max(len(words) for words, _ in steps) + 1
    for words, why in steps:
        output.write(f"  {f'{program} {words}':<{width}}  # {why}")
    output.write("To write your own: docs/quickstart.md")


def near(path: str) -> str:
    """The relative path, unless it leads upwards."""
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith("..") else relative
