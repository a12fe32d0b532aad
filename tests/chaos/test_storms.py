"""A bad day: kills, restarts of Postgres, frozen workers. No task is lost, doubled or wrongly convicted."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.db import Connection
from tests.chaos.work import LONG, assert_each_effect_once, declared, enqueue
from tests.plugins.server_of_own import ServerOfOwn
from tests.plugins.workers import Books, Crew, Mill, eventually

TASKS, KILLS, RESTARTS, FREEZES = (10_000, 50, 5, 3) if LONG else (500, 6, 1, 1)
WORKERS = 3
LOSSES, LOSSES_IN_A_STORM = 3, 6
"""Twice as many while workers are lost without the task (decision 0039)."""
FROZEN_SECONDS = 3.0
"""Longer than the lease of 1.5 s."""
AN_HOUR_LATER = """
create or replace function internal.clock() returns timestamptz language sql stable parallel safe
as $$ select statement_timestamp() + interval '1 hour' $$
"""


async def test_a_storm_convicts_no_innocent_task_and_still_the_one_that_kills(
    server_of_own: ServerOfOwn, tmp_path: Path
) -> None:
    mill, crew = Mill(server_of_own.database), Crew(server_of_own.database, tmp_path)
    blows = ["kill"] * KILLS + ["restart"] * RESTARTS + ["freeze"] * FREEZES
    random.shuffle(blows)
    try:
        team = [crew.spawn() for _ in range(WORKERS)]
        async with mill.open(mill.app()) as books:
            await declared(books)
        storm = Storm(mill, team, TASKS // len(blows))
        for blow in blows:
            victim = await storm.busy_worker()
            if blow == "kill":
                crew.kill(team[victim])
                team[victim] = crew.spawn()
            elif blow == "restart":
                await asyncio.to_thread(server_of_own.stop, "immediate")
                await asyncio.to_thread(server_of_own.start)
            else:
                team[victim].send_signal(signal.SIGSTOP)
                await asyncio.sleep(FROZEN_SECONDS)  # the freeze itself
                team[victim].send_signal(signal.SIGCONT)
        async with mill.database.connect("admin") as admin:
            books = Books(admin)
            await books.drained(storm.enqueued, within=120)
            await assert_each_effect_once(books, storm.enqueued)
            assert await books.count("queues.attempt", "outcome = 'lost'") > 0
            assert await books.count("queues.dead_letter") == 0

            # The storm is not an hour old: the task that kills gets the benefit of the doubt, and no more.
            poison = await convicted(books, crew, team)
            assert (await books.outcomes(poison)).count("lost") == LOSSES_IN_A_STORM
            # When it is, only the task itself explains its losses.
            await asyncio.to_thread(crew.dismiss)
            await admin.execute(AN_HOUR_LATER)
            another = await convicted(books, crew, [crew.spawn(lease_seconds=3)], lease_seconds=3)
            assert (await books.outcomes(another)).count("lost") == LOSSES
            letters = await admin.fetch("select task_id, reason from queues.dead_letter order by task_id")
            assert [tuple(letter) for letter in letters] == [
                (poison, "quarantined"),
                (another, "quarantined"),
            ]
            print(
                f"{storm.enqueued} innocent tasks, {KILLS} kills, {RESTARTS} restarts, {FREEZES} freezes:"
                " none lost, doubled or quarantined"
            )
        await asyncio.to_thread(crew.dismiss)
    finally:
        crew.end()


async def convicted(
    books: Books, crew: Crew, team: list[subprocess.Popen[bytes]], *, lease_seconds: float = 1.5
) -> int:
    """A task that kills its workers, when it is in quarantine; each worker is replaced."""
    [poison] = await enqueue(books.admin, "poison", 1)

    async def is_dead() -> bool:
        for place, member in enumerate(team):
            if member.poll() is not None:
                team[place] = crew.spawn(lease_seconds=lease_seconds)
        return await books.state(poison) == "dead"

    await eventually(is_dead, within=90, every=0.1, what="the poison is quarantined")
    return poison


@dataclass(slots=True)
class Storm:
    """Innocent tasks in portions, so that every blow meets workers with something to do.

    Enqueued all at once, they were done before the storm on a quiet machine.
    """

    mill: Mill
    team: Sequence[subprocess.Popen[bytes]]
    portion: int
    enqueued: int = 0

    async def busy_worker(self) -> int:
        """The place in the team of one that runs something: a kill of one that only starts hits nothing."""
        async with self.mill.database.connect("admin") as admin:
            await self._enqueue(admin)
            found: list[int] = []

            async def somebody() -> bool:
                if await Books(admin).completed() == self.enqueued:  # it was done between two looks
                    await self._enqueue(admin)
                found[:] = await self._running(admin)
                return bool(found)

            await eventually(somebody, within=30, every=0.02, what="a worker runs something")
        return random.choice(found)

    async def _enqueue(self, admin: Connection) -> None:
        # With the usual number of losses: three.
        await enqueue(admin, "innocent", self.portion, first=self.enqueued, seconds=(0, 0.4))
        self.enqueued += self.portion

    async def _running(self, admin: Connection) -> list[int]:
        names = await admin.fetch(
            "select distinct w.worker_name from queues.lease l join queues.worker w using (worker_id)"
            " where w.lost_at is null"
        )
        ends = {row["worker_name"].rpartition(":")[2] for row in names}
        return [place for place, member in enumerate(self.team) if str(member.pid) in ends]
