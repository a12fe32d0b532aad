"""The end of the demo of the queue: what was counted, and where to go next."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.cli import output
from penstock.cli.demo_counts import Counts


@dataclass(frozen=True, slots=True)
class Result:
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


def show_result(result: Result, *, as_json: bool) -> None:
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
            "each closed once" if not counts.done_twice else f"{counts.done_twice} closed twice",
        ),
        ("dead", counts.dead, "out of attempts, kept whole, can be replayed"),
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
            ("queue stats", "what waits, runs and died"),
            ("dead list --by-fingerprint", "which causes killed tasks"),
            ("task list --state lost", "what the killed worker held"),
            ("explain ID", "why a task is where it is"),
            ("doctor", "is all well?"),
        ),
    )


def next_steps(data_dir: Path, steps: Sequence[tuple[str, str]]) -> None:
    """Commands to type, each with why."""
    program = "penstock" if shutil.which("penstock") else near(sys.argv[0])
    output.write(
        "\nLook around in what it left (the server starts by itself):\n"
        f"  export PENSTOCK_DATA_DIR={near(str(data_dir))}"
    )
    width = len(program) + max(len(words) for words, _ in steps) + 1
    for words, why in steps:
        output.write(f"  {f'{program} {words}':<{width}}  # {why}")
    output.write("Then write your own: docs/quickstart.md.")


def near(path: str) -> str:
    """The path from here, unless that leads upwards."""
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith("..") else relative
