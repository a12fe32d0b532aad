"""A migrated database for each test, cloned from a template that is made once a run."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from penstock.db import Connection
from penstock.db.connect import connect
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.flock import locked
from penstock.db.logins import OPERATOR, RUNTIME, create_logins
from penstock.db.migrator import migrate

TEMPLATE = "penstock_template"
_numbers = itertools.count(1)

KERNEL_COPIES = """
select set_config(name, 'clone', false) from pg_settings where name = 'file_copy_method'
"""
"""The kernel copies the files of a new database, in half the time; PostgreSQL 18 and newer."""

GROWN_CATALOGUES = """
select c.oid::regclass::text as name from pg_catalog.pg_class c
where c.relkind = 'r' and not c.relisshared and c.relnamespace = 'pg_catalog'::regnamespace
and pg_relation_size(c.oid) > 65536
"""

Role = Literal["admin", "runtime", "operator"]


@dataclass(frozen=True, slots=True)
class Database:
    """A test's own database; addresses for the three kinds of login."""

    name: str
    server: EmbeddedServer

    @property
    def admin_url(self) -> str:
        return self.server.url(database=self.name)

    @property
    def runtime_url(self) -> str:
        return self.server.url(RUNTIME, self.name)

    @property
    def operator_url(self) -> str:
        return self.server.url(OPERATOR, self.name)

    def url(self, role: Role) -> str:
        match role:
            case "admin":
                return self.admin_url
            case "runtime":
                return self.runtime_url
            case "operator":
                return self.operator_url

    def login_url(self, role: str, password: str) -> str:
        """The address for a login a test made itself."""
        parts = urlsplit(self.admin_url)
        query = {name: values[0] for name, values in parse_qs(parts.query).items() if name != "passfile"}
        return parts._replace(
            netloc=f"{quote(role)}:{quote(password)}@", query=urlencode(query, quote_via=quote, safe="/")
        ).geturl()

    @asynccontextmanager
    async def connect(self, role: Role = "admin", *, name: str = "test") -> AsyncIterator[Connection]:
        connection = await connect(self.url(role), application_name=name)
        try:
            yield connection
        finally:
            if not connection.is_closed():
                await connection.close(timeout=5)


@pytest.fixture(scope="session")
def template(server: EmbeddedServer) -> str:
    """The name of a migrated database, made by whichever process comes first."""
    with locked(server.data_dir / "template.lock"):
        asyncio.run(_make_template(server))
    return TEMPLATE


@pytest.fixture(scope="session")
def maintenance(server: EmbeddedServer) -> Iterator[Maintenance]:
    maintenance = Maintenance(server)
    yield maintenance
    maintenance.close()


@pytest.fixture
def database(maintenance: Maintenance, template: str) -> Iterator[Database]:
    """A database that is already migrated."""
    yield from cloned(maintenance, template)


@pytest.fixture
def empty_database(maintenance: Maintenance) -> Iterator[Database]:
    """A database nobody has migrated yet."""
    yield from cloned(maintenance, "template0")


def cloned(maintenance: Maintenance, template: str) -> Iterator[Database]:
    """A database made from the template, and dropped when the iterator ends."""
    name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}_{next(_numbers)}"
    # Copying files takes half the time of writing 15 MB to the log, page by page; nothing is synced here.
    maintenance.execute(f"create database {name} template {template} strategy file_copy")
    try:
        yield Database(name, maintenance.server)
    finally:
        maintenance.execute(f"drop database {name} with (force)")


class Maintenance:
    """One connection for all the databases that this process makes and drops, on a loop of its own."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.server = server
        self._loop = asyncio.new_event_loop()
        self._connection: Connection | None = None

    def execute(self, statement: str) -> None:
        self._loop.run_until_complete(self._execute(statement))

    async def _execute(self, statement: str) -> None:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(
                self.server.url(database="postgres"), application_name="fixture", timeout=60
            )
            await self._connection.execute(KERNEL_COPIES)
        await self._connection.execute(statement)

    def close(self) -> None:
        if self._connection is not None:
            self._loop.run_until_complete(self._connection.close())
        self._loop.close()


async def _make_template(server: EmbeddedServer) -> None:
    building = "penstock_template_building"
    if await _exists(server, TEMPLATE):
        return
    await _execute(server, f"drop database if exists {building} with (force)")
    await _execute(server, f"create database {building} template template0")
    connection = await connect(server.url(database=building), application_name="template")
    try:
        await migrate(connection)
        await create_logins(connection)
        await _tighten(connection)
    finally:
        await connection.close()
    # The first connection to a database writes what all others read at their start, and clones copy it.
    await (await connect(server.url(database=building), application_name="template")).close()
    await _execute(server, f"alter database {building} rename to {TEMPLATE}")
    await _execute(server, f"alter database {TEMPLATE} allow_connections false")


async def _tighten(connection: Connection) -> None:
    """Remove the catalogue's dead rows, which every clone would copy; our own tables stay as migrated."""
    for row in await connection.fetch(GROWN_CATALOGUES):
        await connection.execute(f"vacuum full {row['name']}")


async def _exists(server: EmbeddedServer, name: str) -> bool:
    connection = await connect(server.url(database="postgres"), application_name="template")
    try:
        return await connection.fetchval("select true from pg_database where datname = $1", name) is True
    finally:
        await connection.close()


async def _execute(server: EmbeddedServer, statement: str) -> None:
    connection = await connect(server.url(database="postgres"), application_name="fixture", timeout=60)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
