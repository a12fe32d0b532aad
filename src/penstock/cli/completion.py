"""Names for the shell to complete, read from the database, such as projects, queues and sources.

A shell waits for these, so they are quick and silent: they never start a server, give up after a second, and
offer nothing rather than an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer  # noqa: TC002 - Typer reads the annotations of these functions at run time

if TYPE_CHECKING:
    from penstock.settings import Settings

SECONDS: Final = 1.0
MOST: Final = 200

TENANTS: Final = "select t ->> 'slug' from all_tenants.list_tenants() as t"
QUEUES: Final = "select queue from queues.stats(null)"
TASK_TYPES: Final = "select task_type from queues.task_types()"
SCHEDULES: Final = "select schedule_name from queues.schedules()"
INLETS: Final = "select name from queues.inlets()"
PROJECTS: Final = "select p ->> 'slug' from accounts.list_projects() as p"
SOURCES: Final = "select s ->> 'name' from ingest.list_sources() as s"
BE_TENANT: Final = (
    "select set_config('penstock.tenant_id', all_tenants.find_tenant($1) ->> 'tenant_id', true)"
)


def tenants(incomplete: str) -> list[str]:
    return _names(TENANTS, incomplete)


def queues(incomplete: str) -> list[str]:
    return _names(QUEUES, incomplete)


def task_types(incomplete: str) -> list[str]:
    return _names(TASK_TYPES, incomplete)


def schedules(incomplete: str) -> list[str]:
    return _names(SCHEDULES, incomplete)


def inlets(incomplete: str) -> list[str]:
    return _names(INLETS, incomplete)


def projects(ctx: typer.Context, incomplete: str) -> list[str]:
    return _names(PROJECTS, incomplete, _tenant(ctx))


def sources(ctx: typer.Context, incomplete: str) -> list[str]:
    return _names(SOURCES, incomplete, _tenant(ctx))


def _tenant(ctx: typer.Context) -> str:
    """The tenant that the line names so far."""
    return str(ctx.params.get("tenant") or "default")


def _names(query: str, incomplete: str, tenant: str | None = None) -> list[str]:
    import asyncio
    import contextlib

    found: list[str] = []
    with contextlib.suppress(Exception):
        found = asyncio.run(asyncio.wait_for(_read(query, tenant), SECONDS))
    return sorted({name for name in found if name.startswith(incomplete)})[:MOST]


async def _read(query: str, tenant: str | None) -> list[str]:
    from penstock.db.connect import connect
    from penstock.settings import Settings

    with _address(Settings()) as url:
        if url is None:
            return []
        connection = await connect(url, application_name="penstock completion")
        try:
            async with connection.transaction():
                if tenant is not None:
                    await connection.execute(BE_TENANT, tenant)
                return [str(row[0]) for row in await connection.fetch(query)]
        finally:
            await connection.close(timeout=1)


@contextmanager
def _address(settings: Settings) -> Iterator[str | None]:
    """The operator's address; None if the server would have to be started first."""
    from penstock.db.embedded.server import EmbeddedServer
    from penstock.db.login_names import OPERATOR

    if settings.database_url is not None:
        yield settings.operator_url or settings.database_url
        return
    server = EmbeddedServer(settings.data_dir)
    if not server.running():
        yield None
        return
    server.start()  # it runs: this only keeps it from being stopped meanwhile
    try:
        yield server.url(OPERATOR)
    finally:
        server.release()
