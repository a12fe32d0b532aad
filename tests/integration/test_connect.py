"""Connections speak our errors and know which failures mean: connect again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from penstock.db.addresses import prepare, resolve
from penstock.db.array_types import ARRAYS
from penstock.db.connect import CONNECTION_LOST, assert_safe_role, connect, create_pool, translated
from penstock.db.migrator import assert_migrated
from penstock.errors import REFUSALS, InvalidArgument, Refused
from penstock.settings import Settings
from tests.plugins.database import Database

VALUES = {
    "bool": True,
    "bytea": b"\x00\xff",
    "name": "a name",
    "int2": -3,
    "int4": 7,
    "varchar": "text, with a comma",
    "int8": 2**40,
    "float4": 0.5,
    "float8": 0.1,
    "timestamp": datetime(2026, 5, 4, 3, 2, 1),  # noqa: DTZ001 (the type has no time zone)
    "date": date(2026, 5, 4),
    "timestamptz": datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC),
    "interval": timedelta(days=2, seconds=3),
    "numeric": Decimal("1.25"),
    "uuid": UUID(int=5),
    "jsonb": '{"a": 1}',
}

RAISE = """
do $$
begin
  raise exception 'Priority 12 is out of range'
    using errcode = '{state}', detail = '_priority', hint = 'Use 0 to 9';
end
$$
"""


@pytest.mark.parametrize("state", sorted(REFUSALS))
async def test_a_sqlstate_of_ours_becomes_its_error(database: Database, state: str) -> None:
    async with database.connect("runtime") as connection:
        with pytest.raises(Refused) as refused, translated():
            await connection.execute(RAISE.format(state=state))
    assert type(refused.value) is REFUSALS[state]
    assert (refused.value.field, refused.value.remedy) == ("_priority", "Use 0 to 9")
    assert refused.value.message == "Priority 12 is out of range"


async def test_any_other_error_stays_what_it_is(database: Database) -> None:
    async with database.connect() as connection:
        with pytest.raises(Exception, match="division by zero") as failed, translated():
            await connection.execute("select 1 / 0")
    assert not isinstance(failed.value, InvalidArgument)
    assert not isinstance(failed.value, CONNECTION_LOST)


async def test_a_lost_connection_is_distinguished_from_a_failed_statement(database: Database) -> None:
    async with database.connect(name="victim") as victim, database.connect() as admin:
        await admin.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'victim' and datname = current_database()"
        )
        for _ in range(2):  # once in the middle, once when it is known to be closed
            with pytest.raises(CONNECTION_LOST):
                await victim.execute("select 1")
    with pytest.raises(CONNECTION_LOST):
        await connect("postgresql://nobody@127.0.0.1:1/nothing", timeout=5)


async def test_a_pool_gives_connections_under_the_given_name(database: Database) -> None:
    pool = await create_pool(database.runtime_url, application_name="penstock worker", max_size=2)
    try:
        assert await pool.fetchval("show application_name") == "penstock worker"
        assert await pool.fetchval("""select '{"a": 1}'::jsonb""") == '{"a": 1}'
    finally:
        await pool.close()


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-connect-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


async def test_without_an_address_an_embedded_server_is_started_and_prepared(data_dir: Path) -> None:
    fast = {"fsync": "off", "shared_buffers": "16MB"}
    addresses = resolve(Settings(data_dir=data_dir), fast)
    assert addresses.embedded is not None
    try:
        assert (await prepare(addresses)).migrations
        assert not (await prepare(addresses)).changed
        for url in (addresses.runtime, addresses.operator, addresses.listen):
            connection = await connect(url)
            try:
                await assert_safe_role(connection)
                await assert_migrated(connection)
            finally:
                await connection.close()
    finally:
        addresses.embedded.destroy()


def test_addresses_of_the_users_own_server_fall_back_to_the_first() -> None:
    url, listen = "postgresql://me@host/db", "postgresql://me@host:5433/db"
    addresses = resolve(Settings(database_url=url, listen_url=listen))
    assert (addresses.runtime, addresses.admin, addresses.listen) == (url, url, listen)
    assert addresses.embedded is None


async def test_arrays_of_built_in_types_are_sent_and_read_without_asking_for_their_types(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        pytest.fail("the driver asked the server for a type")

    monkeypatch.setattr(asyncpg.Connection, "_introspect_types", refuse)
    async with database.connect("runtime") as connection:
        for name in ARRAYS:
            mine = VALUES[name]
            theirs = await connection.fetchval(f"select $1::{name}[]", [mine, None])
            assert theirs == [mine, None], name
    pool = await create_pool(database.runtime_url, min_size=1, max_size=1)
    async with pool, pool.acquire() as pooled:
        assert await pooled.fetchval("select $1::bigint[]", [2**40]) == [2**40]


async def test_the_oids_of_array_types_are_those_of_the_catalogue(database: Database) -> None:
    async with database.connect() as connection:
        rows = await connection.fetch(
            "select typname::text, typarray::int8, oid::int8, typdelim::text from pg_catalog.pg_type"
            " where typnamespace = 'pg_catalog'::regnamespace and typname::text = any($1::text[])",
            list(ARRAYS),
        )
    assert {row[0]: (row[1], row[2]) for row in rows} == ARRAYS
    assert {row[3] for row in rows} == {","}
