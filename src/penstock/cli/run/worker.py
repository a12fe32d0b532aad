"""`penstock worker`: processes documents or runs the tasks of an app, in one process or several."""

from __future__ import annotations

import asyncio
import errno
import json
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import output
from penstock.cli.run.answering import silent_after
from penstock.cli.run.app_loading import load_app
from penstock.cli.run.parent import tell_alive
from penstock.cli.run.supervisor import Child, Supervised, Supervisor
from penstock.db.reach import reaching
from penstock.engine.tasks import Tasks
from penstock.errors import SettingInvalid
from penstock.model.queue_names import INGEST
from penstock.observe import configure
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.engine.engine import Engine

App = Annotated[
    str | None, typer.Option("--app", metavar="MODULE:VARIABLE", help="The app whose tasks to run.")
]
Queue = Annotated[
    list[str] | None,
    typer.Option("--queue", metavar="NAME[:SLOTS]", help="Serve this queue; may be repeated."),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1, max=10_000, help="Tasks run at once per queue; without --app, documents processed at once."
    ),
]
Processes = Annotated[
    int,
    typer.Option(min=1, max=256, help="Number of worker processes; those that die or hang are restarted."),
]
UntilEmpty = Annotated[bool, typer.Option("--until-empty", help="Exit when the queues are empty.")]
Inlets = Annotated[
    bool | None,
    typer.Option(
        "--inlets/--no-inlets",
        help="Also move the messages of inlets; on, unless --until-empty is given.",
        show_default=False,
    ),
]
MetricsPort = Annotated[
    int | None,
    typer.Option(min=0, max=65_535, help="Port for /metrics and /healthz; the nth process uses port + n."),
]


def command(
    app: App = None,
    queue: Queue = None,
    concurrency: Concurrency = None,
    processes: Processes = 1,
    until_empty: UntilEmpty = False,
    inlets: Inlets = None,
    metrics_port: MetricsPort = None,
    as_json: output.AsJson = False,
) -> None:
    """Process documents; with --app, run the tasks of an app instead.

    SIGTERM or Ctrl-C shuts it down gracefully within PENSTOCK_GRACE_SECONDS; a second signal hands all tasks
    back at once. If a task blocks the event loop for PENSTOCK_STALL_SECONDS, the worker exits with 75. Logs
    go to stderr.
    """
    found = load_app(app) if app is not None else _documents_engine()
    settings = found.settings
    queues = _queues(queue, concurrency or settings.concurrency)
    if metrics_port is not None:
        settings = settings.model_copy(update={"metrics_port": metrics_port})
        _tasks(found).settings = settings
    configure(settings.log_level, settings.log_format)
    if processes > 1:
        done, closed = _supervise(processes, settings, until_empty=until_empty)
        if as_json:
            output.document({"processes": processes, "closed": closed, "restarts": done.restarts})
        raise typer.Exit(done.exit_code)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        closed = runner.run(_work(found, queues, concurrency, until_empty, inlets))
    if as_json:
        output.document({"processes": 1, "closed": closed, "restarts": 0})


def _documents_engine() -> Engine:
    from penstock.engine.engine import Engine  # an app of your own starts without parsers and models
    from penstock.sandbox.confine import give_way, session_gives_way

    engine = Engine()
    if engine.settings.niceness > 0:
        give_way(engine.settings.niceness)
        session_gives_way()
    return engine


def _tasks(found: Tasks | Engine) -> Tasks:
    return found if isinstance(found, Tasks) else found.tasks


async def _work(
    found: Tasks | Engine,
    queues: Mapping[str, int] | None,
    concurrency: int | None,
    until_empty: bool,
    inlets: bool | None,
) -> int:
    telling = asyncio.create_task(tell_alive())
    app = _tasks(found)
    with reaching(app.settings.database_url):
        await found.__aenter__()
    try:
        if not isinstance(found, Tasks) and queues is None:
            queues = found.queues if concurrency is None else {**found.queues, INGEST: concurrency}
        return await app.run_worker(
            queues,
            concurrency=concurrency,
            stop_when_empty=until_empty,
            owns_process=True,
            inlets=inlets,
        )
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        reason = f"port {app.settings.metrics_port}: {error.strerror}"
        raise SettingInvalid("PENSTOCK_METRICS_PORT", reason) from error
    finally:
        await found.__aexit__(None, None, None)
        telling.cancel()


def _supervise(processes: int, settings: Settings, *, until_empty: bool) -> tuple[Supervised, int]:
    """Run this command in several children and sum up their closed tasks."""
    closed = 0

    def heard(line: str) -> None:
        nonlocal closed
        closed += json.loads(line)["closed"]

    def child(number: int) -> Child:
        words = [*sys.argv[1:], "--processes", "1", "--json"]
        if settings.metrics_port:
            words += ["--metrics-port", str(settings.metrics_port + number)]
        return Child(f"worker-{number}", words, heard)

    supervisor = Supervisor(
        silent_after(settings.stall_seconds), settings.grace_seconds, until_done=until_empty
    )
    done = asyncio.run(supervisor.run([child(number) for number in range(processes)]))
    return done, closed


def _queues(options: list[str] | None, slots: int) -> dict[str, int] | None:
    """Parses `mail:4` and `mail`; without options, the queues of the task types."""
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
