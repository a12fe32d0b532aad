"""`penstock demo`: documents and simulated accounts become searchable while a worker is killed."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, TypeVar

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.session import run

T = TypeVar("T")


class Model(StrEnum):
    MINILM = "minilm"
    WORDLLAMA = "wordllama"


Queue = Annotated[bool, typer.Option("--queue", help="Show only the queue, with thousands of small tasks.")]
Tasks = Annotated[int, typer.Option(min=100, max=1_000_000, help="With --queue: the number of tasks.")]
Seconds = Annotated[
    float, typer.Option(min=0, max=3_600, help="With --queue: enqueue them over this many seconds.")
]
ModelName = Annotated[
    Model | None,
    typer.Option("--model", help="Embedding model. Default: minilm if it is installed or can be."),
]

Stay = Annotated[
    bool | None,
    typer.Option(
        "--stay/--no-stay",
        help="Keep the console up and mails arriving until Ctrl-C. Default: on a terminal.",
        show_default=False,
    ),
]


def command(
    queue: Queue = False,
    model: ModelName = None,
    tasks: Tasks = 5_000,
    seconds: Seconds = 0,
    stay: Stay = None,
    as_json: output.AsJson = False,
) -> None:
    """Watch documents become searchable, and a worker being killed without losing anything.

    Starts its own Postgres in the data directory and two workers, creates a folder of documents (PDF with
    tables, DOCX, HTML, email with attachments, scans), ingests it and kills one worker with SIGKILL on the
    way. Then it connects simulated HubSpot, Google Drive, QuickBooks, Gmail and Outlook accounts, lets mails
    arrive in two of them, answers searches, and shows what is known about one client. On a terminal the
    console then stays up until Ctrl-C; elsewhere the demo ends by itself.
    """
    if queue:
        from penstock.cli.demo import queue as demo_queue
        from penstock.cli.demo import summary as demo_summary

        counted = _run(demo_queue.run_demo(tasks, seconds, quiet=as_json))
        demo_summary.show_result(counted, as_json=as_json)
        whole = counted.whole
    else:
        from penstock.cli.demo import answers as demo_answers
        from penstock.cli.demo import documents as demo_documents

        result = _run(
            demo_documents.run_demo(
                model,
                quiet=as_json,
                stays=_is_watched() if stay is None else stay,
                tell=partial(demo_answers.show_result, as_json=as_json),
            )
        )
        whole = result.whole
    if not whole:
        raise typer.Exit(Exit.REFUSED)


def _is_watched() -> bool:
    """Whether somebody sits before a terminal who can press Ctrl-C."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _run(demo: Coroutine[Any, Any, T]) -> T:
    """Run until it ends or a signal stops it."""

    async def until_signalled() -> T:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await demo

    try:
        return run(until_signalled())
    except asyncio.CancelledError:
        raise typer.Exit(Exit.INTERRUPTED) from None
