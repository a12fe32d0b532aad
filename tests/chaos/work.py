"""The work of a chaos test: enqueue it, watch it, and count the effects at the end."""

from __future__ import annotations

import os
import random

from penstock.db import Connection
from tests.chaos import hands
from tests.plugins.workers import Books, eventually

LONG = bool(os.environ.get("PENSTOCK_CHAOS_LONG"))
"""make chaos: the same tests, for minutes."""


async def declared(books: Books) -> None:
    """Wait until a worker process has declared its task types."""
    count = len(hands.app.registry.types)

    async def known() -> bool:
        names = list(hands.app.registry.types)
        found = await books.value("select count(*) from queues.task_type where task_type = any ($1)", names)
        return bool(found == count)

    await eventually(known, within=30, what="a worker process has declared its task types")


async def enqueue(
    admin: Connection, task_type: str, count: int, *, first: int = 0, seconds: tuple[float, float] = (0, 0)
) -> list[int]:
    """This many tasks, each with its number and a random time to work."""
    assert task_type in hands.app.registry.types
    ids: list[int] = await admin.fetchval(
        "select queues.enqueue_many($1, array(select jsonb_build_object('n', n, 'seconds', s)"
        " from unnest($2::int[], $3::float8[]) as t (n, s)))",
        task_type,
        list(range(first, first + count)),
        [random.uniform(*seconds) for _ in range(count)],
    )
    return ids


async def assert_each_effect_once(books: Books, count: int, note: str = "effect") -> None:
    """Not one lost, not one twice."""
    rows = await books.value("select count(*) from public.effect where note = $1", note)
    distinct = await books.value("select count(distinct n) from public.effect where note = $1", note)
    assert (rows, distinct) == (count, count)
