"""An existing app is pointed at a test's database, and tests can say what it has enqueued."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from penstock import Penstock, Settings
from penstock.embed.registry import check_configured, known_models, make_embedder
from penstock.errors import InvalidArgument
from penstock.testing import (
    Clock,
    Database,
    HashingEmbedder,
    Server,
    assert_enqueued,
    assert_not_enqueued,
    bound,
    enqueued,
    own_server,
    pointed_at,
)


class Gate(BaseModel):
    name: str
    width: int = 3


def make_app(**settings: Any) -> Penstock:
    app = Penstock(**settings)

    @app.task()
    async def open_gate(gate: Gate) -> None: ...

    @app.task()
    async def close_gate(gate: Gate) -> None: ...

    return app


def test_an_app_reaches_nothing_outside_the_test_and_gets_its_settings_back(
    testing_database: Database,
) -> None:
    app = make_app(
        database_url="postgresql://real@production/penstock",
        blob_url="s3://real-bucket",
        embedder="openai:text-embedding-3-small",
        smtp_host="mail.example.com",
        sms_account_sid="AC1",
        pool_size=3,
    )
    before = app.settings
    with pointed_at(app, testing_database, concurrency=2) as pointed:
        assert pointed is app
        assert app.settings.database_url == testing_database.runtime_url
        assert app.settings.blob_url is None
        assert app.settings.embedder == "hashing"
        assert app.settings.smtp_host is None
        assert app.settings.sms_account_sid is None
        assert (app.settings.pool_size, app.settings.concurrency) == (3, 2)
        folder = app.settings.data_dir
        assert folder.is_dir()
    assert app.settings is before
    assert not folder.exists()


async def test_an_open_app_is_refused_and_one_left_open_is_reported(testing_database: Database) -> None:
    app = make_app()
    async with bound(app, testing_database):
        with pytest.raises(InvalidArgument, match="open already"), pointed_at(app, testing_database):
            pass
    with pytest.raises(InvalidArgument, match="left the app open"):
        with pointed_at(app, testing_database):
            await app.open()
    await app.close()


def test_one_app_serves_tests_with_loops_of_their_own(testing_database: Database) -> None:
    app = make_app()

    async def use() -> None:
        async with bound(app, testing_database):
            engines = await asyncio.gather(app.engine(), app.engine(), app.engine())
            assert len(set(map(id, engines))) == 1

    asyncio.run(use())
    asyncio.run(use())


async def test_a_folder_of_sql_that_only_the_app_names_is_migrated(
    testing_database: Database, own_sql: Path
) -> None:
    app = make_app(sql_dir=own_sql)
    async with bound(app, testing_database):
        rows = testing_database.fetch("select to_regclass('mill.gate') is not null as there")
    assert rows == [{"there": True}]


async def test_enqueued_tasks_are_asserted_by_what_matters(testing_database: Database) -> None:
    app = make_app()
    open_gate = app.registry.types["open_gate"]
    clock = Clock(testing_database)
    async with bound(app, testing_database):
        await open_gate.enqueue(Gate(name="north"), delay=30, priority=2)
        await open_gate.enqueue(Gate(name="north"))
        await open_gate.enqueue(Gate(name="south", width=5))
        assert [task.payload["name"] for task in enqueued(app, open_gate)] == ["north", "north", "south"]
        assert len(assert_enqueued(app, open_gate)) == 3
        assert_enqueued(app, "open_gate", payload={"name": "north"}, count=2)
        assert_enqueued(app, open_gate, payload=Gate(name="south", width=5), queue="default", count=1)
        assert_enqueued(app, open_gate, delay=timedelta(seconds=30), priority=2, count=1)
        assert_enqueued(app, open_gate, at=clock.now + timedelta(seconds=30), count=1)
        assert_not_enqueued(app, "close_gate")
        assert_not_enqueued(app, open_gate, payload=Gate(name="south"))  # as a whole: the width differs
        assert_not_enqueued(app, open_gate, payload={"depth": None})  # a key that is not there is not None


async def test_a_failed_assertion_shows_what_is_there_instead(testing_database: Database) -> None:
    app = make_app()
    open_gate, close_gate = (app.registry.types[name] for name in ("open_gate", "close_gate"))
    async with bound(app, testing_database):
        task_id = await open_gate.enqueue(Gate(name="north"))
        await close_gate.enqueue_many([Gate(name="east"), Gate(name="west")])
        with pytest.raises(AssertionError) as failed:
            assert_enqueued(app, open_gate, payload={"name": "south"}, delay=30)
        shown = {"name": "north", "width": 3}
        assert str(failed.value).splitlines() == [
            "no task 'open_gate' with payload={'name': 'south'}, delay=30 s is enqueued",
            "enqueued of this type: 1",
            f"  task {task_id} (ready) payload={shown}; differs in payload, delay=0 s",
            "of other types: 'close_gate' (2)",
            "Tasks that have run, and those of a transaction that has not committed, are not counted.",
        ]
        with pytest.raises(AssertionError, match="tasks 'close_gate': 3 should be enqueued, 2 are"):
            assert_enqueued(app, close_gate, count=3)
        with pytest.raises(AssertionError, match="0 should be enqueued, 1 are"):
            assert_not_enqueued(app, open_gate)


async def test_a_task_counts_as_enqueued_once_its_transaction_commits(testing_database: Database) -> None:
    app = make_app()
    open_gate = app.registry.types["open_gate"]
    async with bound(app, testing_database):
        async with app.transaction() as connection:
            await open_gate.enqueue(Gate(name="north"), conn=connection)
            assert_not_enqueued(app, open_gate)
        assert_enqueued(app, open_gate, count=1)


def test_an_app_without_a_test_database_is_told_to_use_the_fixture() -> None:
    with pytest.raises(InvalidArgument, match="penstock_app"):
        enqueued(make_app())


async def test_the_hashing_embedder_is_deterministic_and_not_listed(testing_database: Database) -> None:
    app = make_app()
    with pointed_at(app, testing_database):
        check_configured("hashing", app.settings)
        embedder = make_embedder("hashing", app.settings)
    assert isinstance(embedder, HashingEmbedder)
    assert "hashing" not in [info.name for info in known_models(Settings())]
    texts = ["The gate opens at dawn", "a gate that opens", "Rechnung über Mehl", "!?"]
    first, second = await embedder.embed(texts), await embedder.embed(texts, "query")
    assert first == second
    assert {len(vector) for vector in first.vectors} == {2 * embedder.dimensions}


def test_a_server_of_the_users_own_needs_a_superuser(testing_database: Database) -> None:
    with pytest.raises(InvalidArgument, match="PENSTOCK_TEST_DATABASE_URL is not a superuser"):
        own_server(testing_database.operator_url)


def test_addresses_on_a_server_of_the_users_own_keep_host_port_and_options() -> None:
    server = Server(own_url="postgresql://postgres:se%40cret@db.example:6432/postgres?sslmode=require")
    assert server.url("admin", "a") == "postgresql://postgres:se%40cret@db.example:6432/a?sslmode=require"
    login, _, place = server.url("runtime", "a").rpartition("@")
    assert login == f"postgresql://penstock_test_runtime:{server.password}"
    assert place == "db.example:6432/a?sslmode=require"
    other = Server(own_url="postgresql://postgres:other@db.example:6432/postgres")
    assert server.password != other.password
