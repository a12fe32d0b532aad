"""A budget that many callers share lets through what it holds, and tells the others how long to wait."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.errors import InvalidArgument
from tests.plugins.database import Database
from tests.sql.queue_calls import calls

ZERO = timedelta(0)


async def spend(
    connection: Connection, amount: int = 1, *, key: str = "m", count: int = 60, burst: int | None = 10
) -> timedelta:
    with translated():
        wait: timedelta = await connection.fetchval(
            "select queues.spend($1, $2, interval '1 minute', $3, $4)", key, count, burst, amount
        )
    return wait


async def test_a_burst_is_allowed_at_once_and_then_one_call_per_step(database: Database) -> None:
    async with calls(database) as queue:
        assert [await spend(queue.runtime) for _ in range(10)] == [ZERO] * 10
        assert await spend(queue.runtime) == timedelta(seconds=1)
        assert await spend(queue.runtime) == timedelta(seconds=1)  # nothing was taken by asking
        await queue.clock.advance(seconds=1)
        assert await spend(queue.runtime) == ZERO
        assert await spend(queue.runtime) == timedelta(seconds=1)


@pytest.mark.parametrize("spent", [0, 3, 9, 10])
async def test_the_reported_wait_is_long_enough_and_not_too_long(database: Database, spent: int) -> None:
    async with calls(database) as queue:
        if spent:
            assert await spend(queue.runtime, spent) == ZERO
        wait = await spend(queue.runtime, 10)
        assert wait == timedelta(seconds=spent)
        if wait:
            await queue.clock.advance(seconds=wait.total_seconds() - 0.5)
            assert await spend(queue.runtime, 10) > ZERO
            await queue.clock.advance(seconds=0.5)
            assert await spend(queue.runtime, 10) == ZERO


async def test_keys_have_budgets_of_their_own(database: Database) -> None:
    async with calls(database) as queue:
        assert await spend(queue.runtime, 10, key="a") == ZERO
        assert await spend(queue.runtime, 10, key="b") == ZERO
        assert await spend(queue.runtime, 1, key="a") > ZERO


async def test_simultaneous_callers_spend_the_budget_once(database: Database) -> None:
    async with calls(database):

        async def one() -> int:
            async with database.connect("runtime") as connection:
                return [await spend(connection) for _ in range(5)].count(ZERO)

        taken = await asyncio.gather(*(one() for _ in range(8)))
        assert sum(taken) == 10


@pytest.mark.parametrize(
    ("amount", "count", "burst", "field"),
    [(0, 60, 10, "amount"), (-1, 60, 10, "amount"), (11, 60, 10, "amount"), (7, 60, None, "amount"),
     (1, 0, 10, "budget"), (1, 60, 0, "budget")],
)  # fmt: skip
async def test_a_request_larger_than_any_budget_is_refused(
    database: Database, amount: int, count: int, burst: int | None, field: str
) -> None:
    async with database.connect("runtime") as connection:
        with pytest.raises(InvalidArgument) as refused:
            await spend(connection, amount, count=count, burst=burst)
        assert refused.value.field == field
        assert refused.value.remedy
