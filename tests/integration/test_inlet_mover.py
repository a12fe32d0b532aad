"""The loop of every inlet: nothing is acknowledged before its commit, whatever goes away in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg

from penstock.db.reconnecting import ReconnectingConnection
from penstock.inlets.about_data import is_about_data
from penstock.inlets.calls import InletCalls
from penstock.inlets.mover import Mover, MoverOptions
from penstock.inlets.protocol import Incoming, Receipt
from penstock.observe import Metrics
from tests.plugins.database import Database
from tests.plugins.proxy import Mode, proxied
from tests.plugins.workers import Books, eventually

QUICK = MoverOptions(limit=10, wait=0.05, hold=0.2, longest_delay=0.2)


SLOW_INSERT = """
create function queues.sleep_if_slow() returns trigger language plpgsql as
$$ begin perform pg_sleep(case when new.payload ? 'slow' then 60 else 0 end); return new; end $$;
create trigger sleep_if_slow before insert on queues.task for each row
execute function queues.sleep_if_slow();
"""

FULL_DISK = """
create function queues.fail_as_full() returns trigger language plpgsql as
$$ begin raise exception using errcode = '53100', message = 'No space left on device'; end $$;
create trigger fail_as_full before insert on queues.task for each row execute function queues.fail_as_full();
"""


@dataclass(slots=True)
class Sender:
    """A queue with receipts: what is not acknowledged comes back when it is given back."""

    waiting: list[Incoming]
    name: str = "orders"
    source: str = "sqs:orders"
    held: dict[str, Incoming] = field(default_factory=dict)
    acknowledged: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    extended: int = 0
    renewed: set[str] = field(default_factory=set)
    received: int = 0
    is_away: bool = False
    forgets_acknowledgements: bool = False

    async def receive(self, limit: int, wait: float) -> Sequence[Incoming]:
        if self.is_away:
            raise ConnectionError("the sender is away")
        self.received += 1
        batch, self.waiting = self.waiting[:limit], self.waiting[limit:]
        self.held |= {each.receipt: each for each in batch}
        if not batch:
            await asyncio.sleep(wait)
        return batch

    async def acknowledge(self, receipts: Sequence[Receipt]) -> None:
        if self.forgets_acknowledgements:
            self.forgets_acknowledgements = False
            self.waiting += [self.held.pop(each) for each in receipts]
            raise ConnectionError("the answer was lost")
        for each in receipts:
            self.acknowledged.append(self.held.pop(each).key)

    async def extend(self, receipts: Sequence[Receipt], seconds: float) -> None:
        self.extended += 1
        if seconds > 0:
            self.renewed |= set(receipts)
        else:
            self.waiting += [self.held.pop(each) for each in receipts]

    async def refuse(self, receipt: Receipt, reason: str) -> None:
        self.refused[self.held.pop(receipt).key] = reason

    async def aclose(self) -> None: ...


def sent(count: int) -> list[Incoming]:
    return [Incoming(f"k{n}", json.dumps({"n": n}), f"r{n}", task_type="plain") for n in range(count)]


@asynccontextmanager
async def moving(
    database: Database,
    sender: Sender,
    metrics: Metrics | None = None,
    url: str | None = None,
    statement_timeout: float = 60.0,
) -> AsyncIterator[Mover]:
    line = ReconnectingConnection(
        url or database.runtime_url, application_name="mover", statement_timeout=statement_timeout
    )
    mover = Mover(sender, InletCalls(line), QUICK, metrics)
    await mover.start()
    try:
        yield mover
    finally:
        await mover.stop()
        await line.close()


@asynccontextmanager
async def inlet(database: Database) -> AsyncIterator[Books]:
    async with database.connect("admin", name="books") as admin:
        await admin.execute("select queues.put_task_type('plain')")
        await admin.execute("select queues.put_inlet('orders', 'sqs', 'sqs:orders')")
        yield Books(admin)


async def test_what_is_taken_is_acknowledged_and_what_is_bad_refused(database: Database) -> None:
    bad = Incoming("bad", "not JSON", "rb", task_type="plain")
    worse = Incoming("worse\x00", '{"a": "\x00"}', "rw", task_type="plain")
    sender, metrics = Sender([*sent(25), bad, worse, *sent(3)]), Metrics()
    async with inlet(database) as books, moving(database, sender, metrics) as mover:
        await eventually(lambda: not sender.waiting and not sender.held)
        assert sorted(set(sender.acknowledged)) == sorted(each.key for each in sent(25))
        assert sender.refused == {
            "bad": "its payload is not a JSON object",
            "worse\x00": "its payload holds characters that JSON does not allow",
        }
        assert mover.moved == await books.count("queues.task") == 25
        assert b'inlet_messages_total{inlet="orders",outcome="duplicate"} 3.0' in metrics.render()


async def test_a_lost_acknowledgement_costs_nothing_but_a_second_look(database: Database) -> None:
    sender = Sender(sent(5), forgets_acknowledgements=True)
    async with inlet(database) as books, moving(database, sender):
        await eventually(lambda: len(sender.acknowledged) == 5)
        assert await books.count("queues.task") == 5


async def test_while_the_database_is_away_a_batch_is_kept_and_no_other_is_received(
    database: Database,
) -> None:
    sender = Sender(sent(30))
    async with inlet(database) as books:
        async with proxied(database.runtime_url) as proxy:
            proxy.mode = Mode.CLOSE
            async with moving(database, sender, url=proxy.url(database.runtime_url)):
                await eventually(lambda: sender.extended >= 2, what="the batch in hand is kept from others")
                assert (sender.received, sender.acknowledged) == (1, [])
                proxy.mode = Mode.PASS
                await eventually(lambda: len(sender.acknowledged) == 30)
                assert await books.count("queues.task") == 30


async def test_a_full_disk_costs_no_message_a_delivery(database: Database) -> None:
    sender = Sender(sent(10))
    async with inlet(database) as books:
        await books.admin.execute(FULL_DISK)
        async with moving(database, sender) as mover:
            await eventually(lambda: sender.extended >= 2, what="the batch in hand is kept from others")
            assert (sender.received, len(sender.held), sender.refused) == (1, 10, {})
            assert "No space left on device" in str(mover.status()["error"])
            await books.admin.execute("drop trigger fail_as_full on queues.task")
            await eventually(lambda: len(sender.acknowledged) == 10 and mover.error is None)
        assert await books.count("queues.task") == 10
        assert not sender.refused


async def test_a_full_disk_behind_a_bad_message_costs_the_others_no_delivery(database: Database) -> None:
    """The batch was split because of the bad one; all of it is held, not only the message at hand."""
    bad = Incoming("k13", '{"n": 13}', "r13", task_type="plain")
    sender = Sender([bad, *sent(9)])
    async with inlet(database) as books:
        await books.admin.execute(
            "alter table queues.task add constraint not_thirteen check (payload ->> 'n' <> '13')"
        )
        await books.admin.execute(
            FULL_DISK.replace("for each row", "for each row when (new.payload ->> 'n' <> '13')")
        )
        async with moving(database, sender) as mover:
            await eventually(lambda: sender.renewed > {"r13", *(f"r{n}" for n in range(8))})
            assert "No space left on device" in str(mover.error)
            await books.admin.execute("drop trigger fail_as_full on queues.task")
            await eventually(lambda: len(sender.acknowledged) == 9 and mover.error is None)
        assert list(sender.refused) == ["k13"]
        assert await books.count("queues.task") == 9


async def test_a_shutdown_on_a_full_disk_gives_the_whole_batch_back_at_once(database: Database) -> None:
    sender = Sender(sent(10))
    async with inlet(database) as books:
        await books.admin.execute(FULL_DISK)
        async with moving(database, sender):
            await eventually(lambda: sender.extended >= 1)
        assert (len(sender.waiting), sender.held, sender.acknowledged) == (10, {}, [])


async def test_a_batch_of_which_nothing_can_be_taken_is_an_error_that_is_shown(database: Database) -> None:
    sender = Sender([Incoming(f"s{n}", '{"slow": true}', f"rs{n}", task_type="plain") for n in range(2)])
    async with inlet(database) as books:
        await books.admin.execute(SLOW_INSERT)
        async with moving(database, sender, statement_timeout=0.5) as mover:
            await eventually(lambda: mover.failures > 0, within=30)
            assert "Timeout" in str(mover.error)
        assert await books.count("queues.task") == 0


async def test_a_time_limit_of_the_server_splits_a_batch_like_our_own(database: Database) -> None:
    sender = Sender([*sent(6), Incoming("slow", '{"slow": true}', "rs", task_type="plain")])
    async with inlet(database) as books:
        await books.admin.execute(SLOW_INSERT)
        url = f"{database.runtime_url}{'&' if '?' in database.runtime_url else '?'}statement_timeout=1000"
        async with moving(database, sender, url=url):
            await eventually(lambda: len(sender.acknowledged) == 6, within=60)
        assert list(sender.held) == ["rs"], "it is left to its sender"


async def test_python_and_sql_agree_on_what_an_error_is_about(database: Database) -> None:
    codes = sorted(
        {state for state in vars(asyncpg).values() for state in [getattr(state, "sqlstate", None)] if state}
    )
    assert len(codes) > 200
    async with database.connect("admin") as admin:
        rows = await admin.fetch(
            "select c, internal.is_about_data(c) as is_so from unnest($1::text[]) c", codes
        )
    for row in rows:
        error = RuntimeError()
        error.sqlstate = row["c"]  # type: ignore[attr-defined]  # as the driver's errors have it
        assert is_about_data(error) == row["is_so"], row["c"]
    assert is_about_data(RuntimeError())


async def test_a_commit_whose_answer_is_lost_doubles_nothing(database: Database) -> None:
    sender = Sender(sent(10))
    async with inlet(database) as books, proxied(database.runtime_url) as proxy:
        proxy.cut_after("taken")
        async with moving(database, sender, url=proxy.url(database.runtime_url)):
            await eventually(lambda: len(sender.acknowledged) == 10)
            assert await books.count("queues.task") == 10


async def test_a_message_that_takes_too_long_holds_up_no_other_of_its_batch(database: Database) -> None:
    sender = Sender([*sent(6), Incoming("slow", '{"slow": true}', "rs", task_type="plain")])
    async with inlet(database) as books:
        await books.admin.execute(SLOW_INSERT)
        async with moving(database, sender, statement_timeout=2.0):
            await eventually(lambda: len(sender.acknowledged) == 6, within=60)
        assert list(sender.held) == ["rs"], "it is left to its sender"
        assert sorted(sender.acknowledged) == [each.key for each in sent(6)]
        assert await books.count("queues.task") == 6


async def test_a_sender_that_is_away_is_asked_again(database: Database) -> None:
    sender = Sender(sent(3), is_away=True)
    async with inlet(database), moving(database, sender) as mover:
        await eventually(lambda: mover.error is not None)
        assert "the sender is away" in str(mover.status()["error"])
        sender.is_away = False
        await eventually(lambda: len(sender.acknowledged) == 3 and mover.error is None)


async def test_messages_of_a_paused_inlet_go_back_to_their_sender(database: Database) -> None:
    sender = Sender(sent(3))
    async with inlet(database) as books:
        await books.admin.execute("select queues.set_inlet('orders', false)")
        async with moving(database, sender) as mover:
            await eventually(lambda: mover.ended)
            assert (len(sender.waiting), sender.held, sender.acknowledged) == (3, {}, [])


async def test_a_shutdown_gives_back_what_is_not_taken_in_within_the_grace(database: Database) -> None:
    sender = Sender(sent(3))
    async with inlet(database) as books, database.connect("admin") as gate:
        async with gate.transaction():
            await gate.execute("lock table queues.taken in exclusive mode")
            line = ReconnectingConnection(database.runtime_url, application_name="mover")
            mover = Mover(sender, InletCalls(line), QUICK)
            await mover.start()
            await eventually(lambda: sender.held)
            await mover.stop(grace=0.2)
            assert (len(sender.waiting), sender.acknowledged) == (3, [])
        await line.close()
        await books.assert_sound()
