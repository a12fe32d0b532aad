"""`penstock api`: serves the HTTP API."""

from __future__ import annotations

import asyncio
import signal
import socket
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

from penstock.api import ConnectionLimits, create_app, listen, server
from penstock.api.console_auth import assert_loopback
from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.run.loop_guard import loop_guard
from penstock.cli.run.up_checks import port_refused
from penstock.db.reach import reaching
from penstock.engine.engine import Engine
from penstock.observe import configure
from penstock.settings import Settings

Host = Annotated[str | None, typer.Option(help="Address to listen on. Default: PENSTOCK_API_HOST.")]
Port = Annotated[
    int | None,
    typer.Option(
        min=0, max=65_535, help="Port to listen on; 0 picks a free one. Default: PENSTOCK_API_PORT."
    ),
]


def command(host: Host = None, port: Port = None, as_json: output.AsJson = False) -> None:
    """Serve the HTTP API; its documentation is at /docs.

    SIGTERM or Ctrl-C stops it once the current requests are answered. If its event loop is blocked for
    PENSTOCK_STALL_SECONDS, it logs where and exits with 75, so that systemd or Docker restarts it. With
    --json it prints its address as soon as it listens. Logs go to stderr.
    """
    settings = Settings()
    configure(settings.log_level, settings.log_format)
    asked = (host or settings.api_host, settings.api_port if port is None else port)
    assert_loopback(settings, asked[0])
    loop = import_module("uvloop").Loop if find_spec("uvloop") is not None else None
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(_serve(settings, *asked, as_json=as_json))


async def _serve(settings: Settings, host: str, port: int, *, as_json: bool) -> None:
    engine = Engine(settings)
    with reaching(settings.database_url):
        await engine.open()
    try:
        with _taken(host, port) as listening:
            url = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
            if as_json:
                output.document({"url": url}, one_line=True)
            else:
                warn(f"Penstock listens on {url}; its documentation is at {url}/docs")
            running = server(
                create_app(engine, host=host),
                grace_seconds=settings.grace_seconds,
                limits=ConnectionLimits.of(settings),
            )
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, running.stop)
            with loop_guard(settings.stall_seconds):
                await running.serve([listening])
    finally:
        await engine.close()


def _taken(host: str, port: int) -> socket.socket:
    try:
        return listen(host, port)
    except OSError as error:
        raise port_refused(host, port, error) from error
