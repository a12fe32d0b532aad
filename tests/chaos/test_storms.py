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
MOST_LOSSES = 6
"""Twice the usual three: in a storm a task is only suspected with the third worker (decision 0039)."""
FROZEN_SECONDS = 3.0
"""Longer than the lease of 1.5 s."""


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

            [poison] = await enqueue(admin, "poison", 1)

            async def convicted() -> bool:
                for place, member in enumerate(team):
                    if member.poll() is not None:
                        team[place] = crew.spawn()
                return await books.state(poison) == "dead"

            await eventually(convicted, within=90, every=0.1, what="the poison is quarantined")
            letters = await admin.fetch("select task_id, reason from queues.dead_letter")
            assert [tuple(letter) for letter in letters] == [(poison, "quarantined")]
            losses = (await books.outcomes(poison)).count("lost")
            assert losses <= MOST_LOSSES, f"it took {losses} workers"
            print(
                f"{storm.enqueued} innocent tasks, {KILLS} kills, {RESTARTS} restarts, {FREEZES} freezes:"
                f" none lost, doubled or quarantined; the poison took {losses} workers"
            )
        await asyncio.to_thread(crew.dismiss)
    finally:
        crew.end()


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
