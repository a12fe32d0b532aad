"""An inlet in our own database: what takes too long is tried again in smaller batches."""

from __future__ import annotations

import pytest

from penstock.inlets import own_database
from penstock.inlets.own_database import OwnDatabaseInlet, Statements
from penstock.inlets.protocol import InletRow
from penstock.inlets.register import Surroundings
from penstock.settings import Settings
from tests.plugins.database import Database

SLOW = """
  select $2::integer as received, $2::integer as taken, 0 as duplicates, 0 as refused,
    0.0::float8 as lag_seconds, 1::bigint as bytes
  from (select $1::text, pg_sleep($2::integer * 0.05)) as s
"""
"""A twentieth of a second for each message."""


def inlet(database: Database, take: str = SLOW, waiting: str = "select 7") -> OwnDatabaseInlet:
    settings = Settings(_env_file=None, database_url=database.runtime_url)
    around = Surroundings(settings, database.runtime_url, database.runtime_url)
    return OwnDatabaseInlet(InletRow("orders", "pgmq", "pgmq:orders"), around, Statements(take, waiting))


async def test_a_batch_that_takes_too_long_is_followed_by_smaller_ones(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_database, "LONGEST_STATEMENT", 3.0)
    orders = inlet(database)
    try:
        with pytest.raises(TimeoutError):
            await orders.move()
        moved = await orders.move()
    finally:
        await orders.aclose()
    assert (moved.received, moved.backlog) == (25, 7)


async def test_a_count_that_takes_too_long_does_not_undo_the_move(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_database, "LONGEST_STATEMENT", 3.0)
    quick = SLOW.replace("0.05", "0")
    orders = inlet(database, quick, "select 1::bigint from (select pg_sleep(60)) as s")
    try:
        assert (await orders.move()).backlog is None
        assert (await orders.move()).received == 200
    finally:
        await orders.aclose()
