"""Two sessions at once: no two calls deadlock, nothing is finished twice, nobody waits who need not."""

from __future__ import annotations

import asyncio
import itertools

from penstock.db import Connection
from tests.plugins.database import Database
from tests.sql.two_sessions import (
    ACTIONS,
    REFUSALS,
    Action,
    Round,
    Session,
    quick_to_see_deadlocks,
    stock,
    transact,
)

ROUNDS = 24


async def test_no_two_calls_deadlock(database: Database) -> None:
    """Every pair, in opposite order within a transaction where one of the two promises never to wait."""
    found: list[str] = []
    async with (
        quick_to_see_deadlocks(database, "first") as first,
        quick_to_see_deadlocks(database, "second") as second,
    ):
        sessions = (
            Session(first, await _register(first), backwards=False),
            Session(second, await _register(first), backwards=True),
        )
        rounds = await stock(first, ROUNDS)
        for one, other in itertools.combinations_with_replacement(ACTIONS, 2):
            await first.execute("select public.restock()")
            found += await _collide(sessions, rounds, one, other)
            broken = await first.fetch("select * from queues.audit_invariants()")
            found += [f"{one.name} and {other.name} broke: {row['promise']}" for row in broken]
        await first.execute("select public.restock()")
    assert not found, "\n".join(found)


async def _collide(
    sessions: tuple[Session, Session], rounds: list[Round], one: Action, other: Action
) -> list[str]:
    if one.never_waits or other.never_waits:
        there, back = [one.call, other.call], [other.call, one.call]
    else:
        there, back = [one.call], [other.call]
    surprises: list[str] = []
    for now in rounds:
        states = await asyncio.gather(transact(sessions[0], now, there), transact(sessions[1], now, back))
        surprises += [
            f"{one.name} and {other.name}: {state} in round {now.number}"
            for state in states
            if state is not None and state not in REFUSALS
        ]
    return surprises


async def _register(connection: Connection) -> int:
    return int(
        await connection.fetchval("select queues.register_worker('pair', array['q'], interval '1 day')")
    )
