"""Who is woken when a task arrives: one worker that has room, and nobody while somebody looks anyway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from penstock.db.listener import MAILBOX_CLASS
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, value

ONE, TWO, THREE = 1001, 1002, 1003


class Mailboxes:
    """Listeners like those of workers: each hears its own channel and holds its mailbox's lock."""

    def __init__(self, queue: Calls, heard: asyncio.Queue[tuple[str, str]]) -> None:
        self.queue = queue
        self._heard = heard

    async def heard(self) -> list[tuple[int, str]]:
        """What arrived since the last call: mailbox and message; one sender's arrive in order."""
        await self.queue.runtime.fetch("select pg_notify('penstock_fence', '')")
        messages = []
        while (message := await asyncio.wait_for(self._heard.get(), 10))[0] != "penstock_fence":
            messages.append((int(message[0].removeprefix("penstock_worker_")), message[1].partition(":")[2]))
        return messages


@asynccontextmanager
async def mailboxes(database: Database, queue: Calls, *numbers: int) -> AsyncIterator[Mailboxes]:
    heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    async with database.connect("operator") as listener:
        for channel in ("penstock_fence", *(f"penstock_worker_{number}" for number in numbers)):
            await listener.add_listener(
                channel, lambda _, __, name, payload: heard.put_nowait((str(name), str(payload)))
            )
        for number in numbers:
            await listener.fetchval("select pg_advisory_lock($1, $2)", MAILBOX_CLASS, number)
        yield Mailboxes(queue, heard)


async def sleeping(queue: Calls, mailbox: int, load: int = 0, worker: int | None = None) -> int:
    """A worker that waits to be woken."""
    worker = worker or await queue.worker(lease_seconds=3600)
    await rows(queue.runtime, "wait_for_work", worker, "default", mailbox, load)
    return worker


async def test_sql_and_python_agree_on_the_locks_of_mailboxes(database: Database) -> None:
    async with calls(database) as queue:
        assert await queue.admin.fetchval("select internal.mailbox_class()") == MAILBOX_CLASS


async def test_an_enqueue_wakes_one_worker_the_least_busy(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, ONE, TWO, THREE) as boxes:
        for mailbox, load in ((ONE, 3), (TWO, 1), (THREE, 9)):
            await sleeping(queue, mailbox, load)
        await queue.enqueue()
        assert await boxes.heard() == [(TWO, "")]
        await queue.enqueue(unique_key="k")
        assert await boxes.heard() == [(TWO, "due")]


async def test_a_worker_whose_listener_is_gone_is_passed_over(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, TWO) as boxes:
        await sleeping(queue, ONE)  # killed: its session is gone, and with it the lock of its mailbox
        await sleeping(queue, TWO)
        await queue.enqueue()
        assert await boxes.heard() == [(TWO, "")]


async def test_two_producers_find_the_same_worker_gone(database: Database) -> None:
    """The first one's look must not make the dead worker seem alive to the second."""
    async with (
        calls(database) as queue,
        mailboxes(database, queue, TWO) as boxes,
        database.connect("runtime") as other,
    ):
        await sleeping(queue, ONE)
        await sleeping(queue, TWO)
        async with other.transaction():
            await rows(other, "enqueue", "job")
            await queue.enqueue()
            assert await boxes.heard() == [(TWO, "")]


async def test_nobody_is_woken_while_a_worker_polls(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, ONE, TWO) as boxes:
        poller = await sleeping(queue, ONE)
        await sleeping(queue, TWO)
        await rows(queue.runtime, "wait_for_work", poller, "default", ONE, polls_for=1.0)
        await queue.enqueue()
        assert await boxes.heard() == []
        await queue.clock.advance(seconds=2)  # it was killed: nobody relies on it any more
        await queue.enqueue()
        assert await boxes.heard() == [(TWO, "")]
        again = await value(queue.runtime, "wait_for_work", poller, "default", ONE)
        assert again is True  # producers did not wake it so far, so it has to look once more


async def test_a_worker_that_is_full_wakes_the_next_if_there_is_more(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, ONE, TWO) as boxes:
        first = await sleeping(queue, ONE)
        second = await sleeping(queue, TWO)
        await queue.enqueue_many(5)
        assert await boxes.heard() == [(ONE, "")]
        await queue.claim(first, 2, pass_on=True)
        assert await boxes.heard() == [(TWO, "")]
        assert await queue.count("idle", f"worker_id = {first}") == 0
        await queue.claim(second, 4, pass_on=True)
        assert await boxes.heard() == []
        assert await queue.count("idle", f"worker_id = {second} and load = 0") == 1


async def test_a_worker_that_took_the_last_task_is_woken_last(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, ONE, TWO) as boxes:
        first = await sleeping(queue, ONE)
        await queue.enqueue_many(2)
        await queue.claim(first, 2, pass_on=True)
        assert await queue.count("idle", f"worker_id = {first} and load = 10") == 1
        await boxes.heard()
        await queue.enqueue()
        assert await boxes.heard() == [(ONE, "")]  # nobody else is there; it claims when it has room
        await sleeping(queue, TWO, 9)
        await queue.enqueue()
        assert await boxes.heard() == [(TWO, "")]
        # It may have room again, and producers knew of it all the time: no second look is needed.
        assert await value(queue.runtime, "wait_for_work", first, "default", ONE) is False


async def test_full_workers_do_not_pass_a_task_to_each_other(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, ONE, TWO, THREE) as boxes:
        first, second = await sleeping(queue, ONE, 10), await sleeping(queue, TWO, 10)
        for full in (first, second):
            await rows(queue.runtime, "pass_on", full, "default")
        assert await boxes.heard() == []
        await sleeping(queue, THREE, 9)
        await rows(queue.runtime, "pass_on", first, "default")
        assert await boxes.heard() == [(THREE, "due")]


async def test_a_worker_that_did_not_wake_up_is_taken_off_the_list(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, ONE, TWO) as boxes:
        frozen, other = await sleeping(queue, ONE), await sleeping(queue, TWO)
        await rows(queue.runtime, "pass_on", other, "default", True)
        await queue.enqueue()
        assert await boxes.heard() == [(TWO, "")]
        # Once it looks again, it is back on the list, and knows that it has to look twice.
        assert await value(queue.runtime, "wait_for_work", frozen, "default", ONE) is True
        await queue.enqueue()
        assert await boxes.heard() == [(ONE, "")]


async def test_a_worker_of_the_previous_release_still_hears_the_common_channel(database: Database) -> None:
    async with calls(database) as queue:
        heard: asyncio.Queue[str] = asyncio.Queue()
        await queue.operator.add_listener("penstock_ready", lambda *event: heard.put_nowait(str(event[3])))
        await rows(queue.runtime, "go_idle", await queue.worker(), "default", True)
        await sleeping(queue, ONE)  # its listener is gone
        await queue.enqueue()
        assert await asyncio.wait_for(heard.get(), 10)


async def test_workers_of_other_queues_are_not_woken(database: Database) -> None:
    async with calls(database) as queue, mailboxes(database, queue, ONE, TWO) as boxes:
        elsewhere = await queue.worker("other", lease_seconds=3600)
        await rows(queue.runtime, "wait_for_work", elsewhere, "other", ONE)
        await queue.enqueue()
        assert await boxes.heard() == []
        await sleeping(queue, TWO)
        await queue.enqueue()
        assert await boxes.heard() == [(TWO, "")]


async def test_each_waiting_worker_knows_its_place(database: Database) -> None:
    async with calls(database) as queue:
        first, second = await queue.worker(), await queue.worker()
        await queue.enqueue(delay=timedelta(seconds=60))
        for worker in (first, second):
            await rows(queue.runtime, "wait_for_work", worker, "default", worker)
        [seen] = await rows(queue.runtime, "wait_for_work", second, "default", second)
        assert tuple(seen) == (False, 2, 1, 60.0)
        [seen] = await rows(queue.runtime, "wait_for_work", first, "default", first, 5)
        assert tuple(seen) == (False, 2, 1, 60.0)
