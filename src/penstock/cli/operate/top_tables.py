"""What `penstock top` shows, as columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock.engine.overview import SystemSnapshot

STAGES: Final = ("stage", "waiting", "running", "done/h", "failed/h", "per min", "p95 s")
QUEUES: Final = (
    *("queue", "ready", "running", "waiting", "parked", "dead", "/min"),
    *("p95 wait", "p95 run", "oldest", "workers"),
)
WORKERS: Final = ("worker", "state", "leases", "silent s", "queues")
LONGEST_NAME: Final = 24
STYLES: Final = {"well": "green", "attention": "yellow", "failing": "bold red"}
SAYS: Final = {
    "well": "All is well.",
    "attention": "This needs attention:",
    "failing": "Something is stuck:",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopSection:
    """Lines of text, or a table."""

    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    empty: str = ""
    style: str = ""


def sections(snapshot: SystemSnapshot) -> list[TopSection]:
    """The verdict, the stages, the queues that are not empty or were used, and the workers."""
    overview = snapshot.overview
    busy = [
        queue
        for queue in snapshot.queues
        if queue.ready + queue.running + queue.waiting + queue.parked + queue.dead
        or queue.per_minute
        or queue.workers
        or queue.paused
    ]
    return [
        TopSection(
            lines=[SAYS[overview.verdict.state], *(each.text for each in overview.verdict.sentences)],
            style=STYLES[overview.verdict.state],
        ),
        TopSection(
            columns=STAGES,
            rows=[
                (
                    *(stage.stage, stage.waiting, stage.running, stage.done_hour, stage.failed_hour),
                    *(stage.rate_per_minute, stage.p95_seconds),
                )
                for stage in overview.stages
            ],
        ),
        TopSection(
            columns=QUEUES,
            rows=[
                (
                    *(
                        _name(queue.queue, paused=queue.paused),
                        _count(queue.ready),
                        _count(queue.running),
                        _count(queue.waiting),
                    ),
                    *(_count(queue.parked), _count(queue.dead), queue.per_minute, queue.p95_wait_seconds),
                    *(queue.p95_run_seconds, queue.oldest_ready_seconds, queue.workers),
                )
                for queue in busy
            ],
            empty="No queue has been used.",
        ),
        TopSection(
            columns=WORKERS,
            rows=[
                (each.worker, each.state, each.leases, each.silent_seconds, each.queues)
                for each in snapshot.workers
                if each.state != "stopped"
            ],
            empty="No worker is running; start one: penstock worker",
        ),
    ]


def _name(queue: str, *, paused: bool) -> str:
    """The name of a queue, cut so that a long one does not take the room of the figures."""
    short = queue if len(queue) <= LONGEST_NAME else queue[: LONGEST_NAME - 1] + "…"
    return f"{short} (paused)" if paused else short


def _count(number: int) -> str:
    """A count; those above 10,000 are estimates."""
    return f"≈{number:,}" if number > 10_000 else f"{number:,}"
