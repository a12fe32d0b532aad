"""`penstock demo`: real documents become searchable while a worker is killed, then three searches."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.session import run

T = TypeVar("T")


class Model(StrEnum):
    MINILM = "minilm"
    WORDLLAMA = "wordllama"


Queue = Annotated[bool, typer.Option("--queue", help="Show the queue alone: thousands of small tasks.")]
Tasks = Annotated[int, typer.Option(min=100, max=1_000_000, help="With --queue: how many tasks.")]
Seconds = Annotated[float, typer.Option(min=0, max=3_600, help="With --queue: spread over so many seconds.")]
ModelName = Annotated[
    Model | None, typer.Option("--model", help="Default: minilm if it is there or can be installed.")
]


def command(
    queue: Queue = False,
    model: ModelName = None,
    tasks: Tasks = 5_000,
    seconds: Seconds = 0,
    as_json: output.AsJson = False,
) -> None:
    """See documents become searchable and nothing get lost.

    Starts a Postgres of its own under the data directory and two workers, makes a folder of documents (PDF
    with tables, DOCX, HTML, mail with attachments, scans), ingests it, kills one worker with SIGKILL in
    the middle, and answers three searches.
    """
    if queue:
        from penstock.cli import demo_queue, demo_summary

        counted = _run(demo_queue.play(tasks, seconds, quiet=as_json))
        demo_summary.show_result(counted, as_json=as_json)
        whole = counted.whole
    else:
        from penstock.cli import demo_answers, demo_documents

        result = _run(demo_documents.play(model, quiet=as_json))
        demo_answers.show_result(result, as_json=as_json)
        whole = result.whole
    if not whole:
        raise typer.Exit(Exit.REFUSED)


def _run(play: Coroutine[Any, Any, T]) -> T:
    """Played until it ends or a signal cuts it short."""

    async def until_signalled() -> T:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await play

    try:
        return run(until_signalled())
    except asyncio.CancelledError:
        raise typer.Exit(Exit.INTERRUPTED) from None
