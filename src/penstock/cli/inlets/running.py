"""`penstock inlet NAME`: reads one inlet in the foreground, alone or beside the worker that holds it."""

from __future__ import annotations

import asyncio
import os
import socket

from penstock.cli import output
from penstock.cli.session import database
from penstock.db.addresses import Addresses
from penstock.db.reach import reaching
from penstock.db.reconnecting import ReconnectingConnection
from penstock.engine.signals import StopSignals
from penstock.inlets.calls import InletCalls
from penstock.inlets.keeper import Keeper
from penstock.inlets.register import Surroundings, module_of
from penstock.observe import configure, get_logger
from penstock.settings import Settings

log = get_logger(__name__)


def run_inlet(name: str) -> None:
    """Until SIGTERM or Ctrl-C; the batch in hand is finished or given back within the grace period."""
    settings = Settings()
    configure(settings.log_level, settings.log_format)
    moved = asyncio.run(_run(settings, name))
    output.write(f"Moved {output.count(moved, 'message')}.")


async def _run(settings: Settings, name: str) -> int:
    async with database(settings) as addresses:
        line = ReconnectingConnection(
            addresses.runtime, application_name="penstock inlets", statement_cache=settings.statement_cache
        )
        try:
            with reaching(addresses.runtime):
                module_of(await InletCalls(line).kind_of(name))
            return await _move(settings, addresses, name, line)
        finally:
            await line.close()


async def _move(settings: Settings, addresses: Addresses, name: str, line: ReconnectingConnection) -> int:
    around = Surroundings(settings, addresses.runtime, addresses.listen)
    holder = f"{socket.gethostname()}:{os.getpid()}"
    keeper = Keeper(around, holder, seconds=settings.lease_seconds, only=name, beside=True)
    stopping, hurrying = asyncio.Event(), asyncio.Event()
    with StopSignals(stopping, hurrying):
        try:
            while not stopping.is_set():
                try:
                    await keeper.look(line)
                except Exception as error:  # noqa: BLE001  # the database is away: movers wait for it, too
                    log.throttled("database_lost", duty="inlets", error=error)
                if not keeper.movers:  # it is paused or removed, or was not opened
                    log.throttled("inlet_not_read", key=name, inlet=name)
                await _wait(stopping, settings.lease_seconds / 3)
        finally:
            await keeper.stop(line, 0.0 if hurrying.is_set() else settings.grace_seconds)
    return keeper.moved


async def _wait(stopping: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return
