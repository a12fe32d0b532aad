"""`penstock bench`: runs the repository's benchmark in a checkout, or a quick measurement of this
database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from penstock.cli import output
from penstock.cli.progress import bar
from penstock.cli.session import run
from penstock.db.reach import reaching
from penstock.engine.penstock import Penstock
from penstock.settings import Settings

QUEUE = "penstock-bench"
BATCH = 1_000

Tasks = Annotated[int, typer.Option(min=1, max=10_000_000, help="No-op tasks to enqueue and drain.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="Measure the configured database even in a checkout of Penstock.")
]
Arguments = Annotated[list[str] | None, typer.Argument(help="Arguments for python -m bench, after --.")]


def command(
    arguments: Arguments = None, tasks: Tasks = 20_000, quick: Quick = False, as_json: output.AsJson = False
) -> None:
    """Measure how fast tasks are enqueued and processed.

    In a checkout of Penstock this runs python -m bench, which compares Penstock with other queues. Elsewhere,
    and with --quick or --json, it measures no-op tasks on the configured database, in the queue penstock-
    bench.
    """
    if Path("bench/systems/penstock.py").exists() and not quick and not as_json:
        raise typer.Exit(
            subprocess.run([sys.executable, "-m", "bench", *(arguments or ())], check=False).returncode
        )
    figures = run(_measure(tasks))
    output.document(figures) if as_json else output.facts(figures)


async def _measure(tasks: int) -> dict[str, object]:
    app = Penstock(Settings())

    @app.task("penstock.bench", queue=QUEUE)
    async def nothing(payload: dict[str, Any]) -> None:
        return None

    with reaching(app.settings.database_url):
        await app.open()
    try:
        begun = perf_counter()
        with bar("enqueue", tasks) as progress:
            for start in range(0, tasks, BATCH):
                await nothing.enqueue_many([{}] * min(BATCH, tasks - start))
                progress(min(start + BATCH, tasks))
        enqueued = perf_counter() - begun
        begun = perf_counter()
        closed = await app.run_worker({QUEUE: app.settings.concurrency}, stop_when_empty=True)
        drained = perf_counter() - begun
    finally:
        await app.close()
    return {
        "tasks": tasks,
        "closed": closed,
        "enqueue_seconds": round(enqueued, 3),
        "enqueue_per_second": round(tasks / enqueued),
        "drain_seconds": round(drained, 3),
        "drain_per_second": round(closed / drained),
    }
