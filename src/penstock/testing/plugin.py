"""The pytest plugin, loaded by its entry point; nothing of Penstock is imported before a fixture is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from penstock import Penstock
    from penstock.testing.clock import Clock
    from penstock.testing.databases import Database
    from penstock.testing.servers import Server


class Bind(Protocol):
    """What the fixture `penstock_bind` gives."""

    def __call__(self, app: Penstock, **overrides: Any) -> Penstock:
        """Point the app at the test's database until the test ends; overrides are settings."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("penstock_app", "the app of the fixture penstock_app, such as shop.tasks:app", default="")
    parser.addini(
        "penstock_database_url",
        "a superuser's address of a Postgres server for tests; without it an embedded server is started",
        default="",
    )


@pytest.fixture(scope="session")
def penstock_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """The Postgres server of this test run."""
    from penstock.testing.servers import SERVER_VARIABLE, embedded_server, own_server

    url = os.environ.get(SERVER_VARIABLE) or str(pytestconfig.getini("penstock_database_url"))
    if url:
        yield own_server(url)
        return
    with embedded_server() as server:
        yield server


@pytest.fixture(scope="session")
def penstock_template(penstock_server: Server) -> str:
    """The name of the migrated database that each test's database is a copy of."""
    from penstock.settings import Settings
    from penstock.testing.template import make_template

    return make_template(penstock_server, Settings().sql_dir)


@pytest.fixture
def penstock_database(penstock_server: Server, penstock_template: str) -> Iterator[Database]:
    """A migrated database of the test's own."""
    from penstock.testing.databases import cloned

    with cloned(penstock_server, penstock_template) as database:
        yield database


@pytest.fixture
def penstock_clock(penstock_database: Database) -> Clock:
    """The clock of the test's database, which stands still until the test moves it."""
    from penstock.testing.clock import Clock

    return Clock(penstock_database)


@pytest.fixture
def penstock_bind(penstock_database: Database) -> Iterator[Bind]:
    """A function that points an app at the test's database until the test ends."""
    from penstock.testing.binding import pointed_at

    with ExitStack() as bindings:

        def bind(app: Penstock, **overrides: Any) -> Penstock:
            return bindings.enter_context(pointed_at(app, penstock_database, **overrides))

        yield bind


@pytest.fixture
def penstock_app(penstock_bind: Bind, pytestconfig: pytest.Config) -> Penstock:
    """The app that the option `penstock_app` names, or a new one, on the test's database; not open yet."""
    from penstock import Penstock

    name = str(pytestconfig.getini("penstock_app"))
    if not name:
        return penstock_bind(Penstock())
    try:
        app = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise pytest.UsageError(f"the ini option penstock_app = {name!r} names no app: {error}") from error
    if not isinstance(app, Penstock):
        raise pytest.UsageError(
            f"the ini option penstock_app = {name!r} names a {type(app).__name__}, not a Penstock"
        )
    return penstock_bind(app)
