"""Points an existing app at a test's database, with settings that reach nothing outside the test."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from penstock.db.migrator import migrate
from penstock.db.reconnecting import ReconnectingConnection
from penstock.db.sql_folders import find_folders
from penstock.engine.penstock import Penstock
from penstock.engine.tasks import Tasks
from penstock.errors import InvalidArgument
from penstock.queue.duty_calls import DutyCalls
from penstock.queue.registry import Registry
from penstock.queue.schedule import next_tick
from penstock.testing import hashing_embedder
from penstock.testing.blocking import run_blocking
from penstock.testing.databases import Database

INSIDE: Mapping[str, Any] = {
    "embedder": hashing_embedder.NAME,
    "embedder_fallback": None,
    "index": "pgvector",
    "blob_url": None,
    "vault_key": None,
    "docling_url": None,
    "smtp_host": None,
    "sms_account_sid": None,
    "sms_auth_token": None,
    "metrics_port": None,
}
"""A test must not write to the bucket, send by the mail server or pay for the embeddings named in .env."""


@contextmanager
def pointed_at(app: Penstock, database: Database, **overrides: Any) -> Iterator[Penstock]:
    """The app with the test's database instead of its own, for the block; open it inside: `async with app:`.

    Its task types and schedules are declared at once. Documents are embedded without a model and kept in a
    temporary folder; mail, text messages and other services are switched off. `overrides` are settings that
    replace these.
    """
    if app.is_open:
        raise InvalidArgument(
            "the app is open already",
            "app",
            "Close it first: an open app keeps the database it was opened with",
        )
    hashing_embedder.install()
    before = app.settings
    with tempfile.TemporaryDirectory(prefix="penstock-test-") as folder:
        inside = {**INSIDE, **database.settings, "data_dir": Path(folder), **overrides}
        app.settings = before.model_copy(update=inside)
        try:
            run_blocking(_prepare(app, database))
            yield app
            if app.is_open:
                raise InvalidArgument(
                    "the test left the app open",
                    "app",
                    "Open it with: async with app: …, or call app.close()",
                )
        finally:
            app.settings = before


@asynccontextmanager
async def bound(app: Penstock, database: Database, **overrides: Any) -> AsyncIterator[Penstock]:
    """`pointed_at` with the app open, for the block."""
    with pointed_at(app, database, **overrides):
        async with app:
            yield app


def admin_url_of(app: Tasks) -> str:
    """The administrator's address of the app's database; InvalidArgument where it is not known."""
    if app.is_open:
        return app.addresses.admin
    if app.settings.admin_url is None:
        raise InvalidArgument(
            "the app is bound to no test database",
            "app",
            "Use the fixture penstock_app, or: with pointed_at(app, database): …",
        )
    return app.settings.admin_url


async def declare(registry: Registry, runtime_url: str) -> None:
    """Task types and schedules; the first tick of a schedule comes after the test's time."""
    line = ReconnectingConnection(runtime_url, application_name="penstock testing")
    try:
        calls = DutyCalls(line)
        await calls.declare(registry.types.values())
        if registry.schedules:
            now = await calls.clock()
            for schedule in registry.schedules.values():
                await calls.declare_schedule(schedule, next_tick(schedule.cron, schedule.timezone, now))
    finally:
        await line.close()


async def _prepare(app: Penstock, database: Database) -> None:
    folders = find_folders(app.settings.sql_dir)
    if folders:  # the template has those of the environment, and the app may name another
        async with database.connect() as admin:
            await migrate(admin, folders=folders)
    await declare(app.registry, database.runtime_url)
