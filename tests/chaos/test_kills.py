"""Workers that are killed: no task is lost and no effect is written twice."""

from __future__ import annotations

import asyncio
import random
import signal

import pytest

from tests.chaos.work import LONG, assert_each_effect_once, declared, enqueue
from tests.plugins.workers import Crew, Mill, ended, eventually

TASKS, KILLS = (10_000, 50) if LONG else (800, 8)
SIGTERM_TASKS, SIGTERMS = (5_000, 200) if LONG else (200, 10)


async def test_kill_9_loses_no_task_and_writes_each_effect_once(mill: Mill, crew: Crew) -> None:
    async with mill.open(mill.app()) as books:
        team = [crew.spawn() for _ in range(3)]
        await declared(books)
        await enqueue(books.admin, "effect", TASKS, seconds=(0, 0.2))
        for kill in range(KILLS):
            # Spread over the whole run, each in some moment of a few dozen open transactions.
            mark = int(TASKS * (kill + random.random()) / (KILLS + 1))
            await eventually(lambda: _reached(books.completed, mark), within=60, every=0.05)  # noqa: B023  # now
            victim = random.randrange(len(team))
            crew.kill(team[victim])
            team[victim] = crew.spawn()
        await books.drained(TASKS, within=90)
        await assert_each_effect_once(books, TASKS)
        assert await books.count("queues.attempt", "outcome = 'lost'") > 0
        assert await books.count("queues.error") == 0
        assert await books.count("queues.dead_letter") == 0
        await asyncio.to_thread(crew.dismiss)


async def _reached(completed: object, mark: int) -> bool:
    return bool(await completed() >= mark)  # type: ignore[operator]  # Books.completed


async def test_a_storm_of_sigterms_charges_no_attempt(mill: Mill, crew: Crew) -> None:
    """What a deploy does: every worker is told to stop, again and again, with tasks in hand."""
    async with mill.open(mill.app()) as books:
        team = [crew.spawn(grace_seconds=0.2) for _ in range(2)]
        await declared(books)
        await enqueue(books.admin, "late", SIGTERM_TASKS, seconds=(0, 0.8))
        for term in range(SIGTERMS):
            mark = int(SIGTERM_TASKS * term / (SIGTERMS + 1))
            await eventually(lambda: _reached(books.completed, mark), within=60, every=0.05)  # noqa: B023  # now
            member = team[term % 2]
            await eventually(lambda: "worker_started" in crew.log_of(member))  # noqa: B023  # now
            member.send_signal(signal.SIGTERM)
            team[term % 2] = crew.spawn(grace_seconds=0.2)
            assert await ended(member) == 0, crew.log_of(member)
        await books.drained(SIGTERM_TASKS, within=90)
        await assert_each_effect_once(books, SIGTERM_TASKS, "late")
        assert await books.count("queues.error") == 0
        assert await books.count("queues.attempt", "outcome in ('lost', 'failed')") == 0
        assert await books.count("queues.attempt", "outcome = 'completed' and attempt_number <> 1") == 0
        await asyncio.to_thread(crew.dismiss)


@pytest.mark.parametrize(
    ("neighbour", "concurrency"),
    [
        pytest.param("late", "10", id="neighbours with losses to spare"),
        pytest.param("innocent", "1", id="one slot"),
        pytest.param(
            "innocent",
            "10",
            id="neighbours of the same claim",
        ),
    ],
)
async def test_a_task_that_kills_its_worker_is_quarantined_and_the_others_are_unharmed(
    mill: Mill, crew: Crew, neighbour: str, concurrency: str
) -> None:
    async with mill.open(mill.app()) as books:
        watcher = crew.spawn()
        await declared(books)
        crew.kill(watcher)
        [poison] = await enqueue(books.admin, "poison", 1)
        await enqueue(books.admin, neighbour, 30, seconds=(0.02, 0.1))
        deaths = 0
        member = crew.spawn("tests.chaos.hands", concurrency)

        async def quarantined() -> bool:
            nonlocal deaths, member
            if member.poll() is not None:
                assert member.returncode == 66, crew.log_of(member)
                deaths += 1
                member = crew.spawn("tests.chaos.hands", concurrency)
            return await books.state(poison) == "dead"

        await eventually(quarantined, within=60, what="the poison is quarantined")
        assert deaths == 3
        letters = await books.admin.fetch("select task_id, reason, losses from queues.dead_letter")
        assert [tuple(letter) for letter in letters] == [(poison, "quarantined", 3)]
        await books.drained(30)
        await assert_each_effect_once(books, 30, "late" if neighbour == "late" else "effect")
        await asyncio.to_thread(crew.dismiss)
