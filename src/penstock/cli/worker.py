"""`penstock worker`: runs the tasks of an app, in this process or in several."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated

import typer

from penstock.app import Penstock
from penstock.cli import output
from penstock.cli.app_loading import load_app
from penstock.cli.failures import warn
from penstock.cli.supervisor import supervise
from penstock.db.reach import reaching
from penstock.errors import SettingInvalid
from penstock.observe import configure

App = Annotated[
    str | None, typer.Option("--app", metavar="MODULE:VARIABLE", help="The app whose tasks to run.")
]
Queue = Annotated[
    list[str] | None,
    typer.Option("--queue", metavar="NAME[:SLOTS]", help="Serve this queue; may be repeated."),
]
Concurrency = Annotated[int | None, typer.Option(min=1, max=10_000, help="Tasks at once in each queue.")]
Processes = Annotated[
    int, typer.Option(min=1, max=256, help="Run so many workers and restart those that die.")
]
UntilEmpty = Annotated[bool, typer.Option("--until-empty", help="Stop when the queues are empty.")]
MetricsPort = Annotated[
    int | None,
    typer.Option(min=0, max=65_535, help="Serve /metrics and /healthz here; the nth process on port + n."),
]
EndsWithParent = Annotated[bool, typer.Option("--ends-with-parent", hidden=True)]


def command(
    app: App = None,
    queue: Queue = None,
    concurrency: Concurrency = None,
    processes: Processes = 1,
    until_empty: UntilEmpty = False,
    metrics_port: MetricsPort = None,
    ends_with_parent: EndsWithParent = False,
    as_json: output.AsJson = False,
) -> None:
    """Run the tasks of an app.

    SIGTERM or Ctrl-C stops it in order within PENSTOCK_GRACE_SECONDS; a second one hands everything back
    at once. Logs go to stderr.
    """
    if ends_with_parent:
        _end_with_parent()
    found = load_app(app) if app is not None else Penstock()
    queues = _queues(queue, concurrency or found.settings.concurrency)
    if metrics_port is not None:
        found.settings = found.settings.model_copy(update={"metrics_port": metrics_port})
    configure(found.settings.log_level, found.settings.log_format)
    if app is None:
        warn("No --app is given: only built-in task types are served.")
    if processes > 1:
        done = supervise(
            processes, sys.argv[1:], metrics_port=found.settings.metrics_port, until_empty=until_empty
        )
        if as_json:
            output.document({"processes": processes, "closed": done.closed, "restarts": done.restarts})
        raise typer.Exit(done.exit_code)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        closed = runner.run(_work(found, queues, concurrency, until_empty))
    if as_json:
        output.document({"processes": 1, "closed": closed, "restarts": 0})


async def _work(
    app: Penstock, queues: Mapping[str, int] | None, concurrency: int | None, until_empty: bool
) -> int:
    with reaching():
        await app.open()
    try:
        return await app.run_worker(queues, concurrency=concurrency, stop_when_empty=until_empty)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        reason = f"port {app.settings.metrics_port}: {error.strerror}"
        raise SettingInvalid("PENSTOCK_METRICS_PORT", reason) from error
    finally:
        await app.close()


def _queues(options: list[str] | None, slots: int) -> dict[str, int] | None:
    """`mail:4` and `mail`; none given means those of the task types."""
    if not options:
        return None
    queues: dict[str, int] = {}
    for option in options:
        name, colon, number = option.partition(":")
        if not name or (colon and not (number.isdecimal() and 1 <= int(number) <= 10_000)):
            raise typer.BadParameter(
                f"{option!r} is not NAME or NAME:SLOTS with 1 to 10000 slots", param_hint="--queue"
            )
        queues[name] = int(number) if colon else slots
    return queues


def _loop_factory() -> type[asyncio.AbstractEventLoop] | None:
    if find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.Loop


def _end_with_parent() -> None:
    """Stop in order when whoever started us dies: then our stdin, a pipe from it, ends."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()
