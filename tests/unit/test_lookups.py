"""Notifications looked up together: none gets an answer older than itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from penstock.sources.mail.lookups import Lookups


class Statements:
    """Each statement waits until it is let through, and says which number it had."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.failing: list[Exception] = []
        self._through: asyncio.Queue[None] = asyncio.Queue()

    async def __call__(self, keys: Sequence[str]) -> list[str]:
        self.asked.append(list(keys))
        number = len(self.asked)
        await self._through.get()
        if self.failing:
            raise self.failing.pop()
        return [f"{key} {number}" for key in keys]

    def let_through(self, count: int = 1) -> None:
        for _ in range(count):
            self._through.put_nowait(None)


async def begun(statements: Statements, count: int) -> None:
    async with asyncio.timeout(10):
        while len(statements.asked) < count:  # noqa: ASYNC110  # other tasks of this loop do it
            await asyncio.sleep(0)


async def test_what_arrives_during_a_statement_is_answered_by_the_next_one() -> None:
    statements = Statements()
    lookups = Lookups(statements, 10)
    first = asyncio.create_task(lookups.find("a"))
    await begun(statements, 1)
    later = [asyncio.create_task(lookups.find(key)) for key in ("a", "b", "a")]
    statements.let_through(2)
    assert await asyncio.gather(first, *later) == ["a 1", "a 2", "b 2", "a 2"]
    assert statements.asked == [["a"], ["a", "b"]]


async def test_a_statement_asks_for_no_more_than_its_share() -> None:
    statements = Statements()
    lookups = Lookups(statements, 2)
    statements.let_through(3)
    found = await asyncio.gather(*(lookups.find(key) for key in "abcde"))
    assert found == ["a 1", "b 1", "c 2", "d 2", "e 3"]


async def test_an_error_reaches_those_who_asked_and_nobody_after_them() -> None:
    statements = Statements()
    statements.failing.append(OSError("the server is gone"))
    lookups = Lookups(statements, 10)
    asking = [asyncio.create_task(lookups.find(key)) for key in ("a", "a", "b")]
    await begun(statements, 1)
    after = asyncio.create_task(lookups.find("a"))
    await asyncio.sleep(0)
    statements.let_through(2)
    for task in asking:
        with pytest.raises(OSError, match="the server is gone"):
            await task
    assert await after == "a 2"


async def test_a_caller_that_leaves_takes_nothing_away_from_the_others() -> None:
    statements = Statements()
    lookups = Lookups(statements, 10)
    leaving, staying = (asyncio.create_task(lookups.find("a")) for _ in range(2))
    await begun(statements, 1)
    leaving.cancel()
    statements.let_through()
    assert await staying == "a 1"
    assert leaving.cancelled()
