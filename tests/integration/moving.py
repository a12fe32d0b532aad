"""Inlets of a test: added by an operator, moved in this process or in one of their own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from penstock.db.reconnecting import ReconnectingConnection
from penstock.inlets.calls import InletCalls
from penstock.inlets.mover import Mover, MoverOptions
from penstock.inlets.protocol import InletRow
from penstock.inlets.register import Surroundings, open_inlet
from penstock.observe.logs import configure
from penstock.settings import Settings
from tests.plugins.database import Database

PUT = "select queues.put_inlet($1, $2, $3, $4, $5, $6)"
FIGURES = """
  select coalesce(sum(c.received), 0)::int as received, coalesce(sum(c.taken), 0)::int as taken,
    coalesce(sum(c.duplicates), 0)::int as duplicates, coalesce(sum(c.refused), 0)::int as refused
  from queues.inlet i left join queues.inlet_count c using (inlet_id) where i.name = $1
"""


async def add_inlet(
    database: Database, kind: str, url: str, *, name: str = "events", tenant: str | None = None, **config: Any
) -> None:
    """Add it, and declare the type of its tasks."""
    given = json.dumps({"queue_url": url, **config})
    async with database.connect("runtime") as runtime:
        if "task_type" in config:
            await runtime.execute("select queues.put_task_type($1)", config["task_type"])
    async with database.connect("operator") as operator:
        await operator.execute(PUT, name, kind, f"{kind}:{url}", given, tenant, None)


async def figures(database: Database, name: str = "events") -> dict[str, int]:
    async with database.connect("admin") as admin:
        row = await admin.fetchrow(FIGURES, name)
    assert row is not None
    return dict(row)


@asynccontextmanager
async def moving(settings: Settings, name: str = "events", limit: int = 100) -> AsyncIterator[Mover]:
    """The inlet's mover at work."""
    assert settings.database_url is not None
    line = ReconnectingConnection(settings.database_url, application_name="penstock inlet")
    calls = InletCalls(line)
    row = await _row(line, calls, name)
    inlet = await open_inlet(row, Surroundings(settings, settings.database_url, settings.database_url))
    mover = Mover(inlet, calls, MoverOptions(limit=limit, wait=1.0, longest_delay=1.0))
    await mover.start()
    try:
        yield mover
    finally:
        await mover.stop()
        await line.close()


async def _row(line: ReconnectingConnection, calls: InletCalls, name: str) -> InletRow:
    """Not held if it can be seen: a worker of the test may read it as well, and nothing is taken twice."""
    for found in await line.fetch("select name, kind, source, config from queues.inlets($1)", name):
        return InletRow(found["name"], found["kind"], found["source"], json.loads(found["config"]))
    (held,) = await calls.hold("a test", ["sqs", "s3"], 0.001, name)  # only an operator sees a tenant's
    return held


async def main(name: str) -> None:
    settings = Settings()
    configure(settings.log_level, settings.log_format)
    async with moving(settings, name, limit=5):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
