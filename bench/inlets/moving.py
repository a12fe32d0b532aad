"""The cases: one or two of our movers, the ledger's path, and a bare loop that reads and archives."""

from __future__ import annotations

import asyncio
import importlib.resources
import json
import time
from collections.abc import Callable, Sequence

from bench.documents.place import Place
from bench.job import Figures
from penstock.db.connect import connect
from penstock.db.pgmq import prepare_queue
from penstock.db.reconnecting import ReconnectingConnection
from penstock.inlets.calls import InletCalls
from penstock.inlets.mover import Mover, MoverOptions
from penstock.inlets.pgmq import open_inlet
from penstock.inlets.protocol import Incoming, InletRow, Receipt
from penstock.inlets.register import Surroundings
from penstock.settings import Settings

QUEUE = "orders"
BATCH = 1_000
FILL = """
select pgmq.send_batch($1, array(
  select jsonb_build_object('document_id', gen_random_uuid(), 'n', n)
  from generate_series($2::int, $3::int) n))
"""


async def fill(place: Place, messages: int) -> None:
    """pgmq with one queue of messages, and an inlet for it."""
    admin = await connect(place.admin_url)
    try:
        await admin.execute((importlib.resources.files("pgmq") / "sql/pgmq.sql").read_text(encoding="utf-8"))
        await admin.execute("select pgmq.create($1)", QUEUE)
        await prepare_queue(admin, QUEUE, wrappers=False)
        await admin.execute("select queues.put_task_type('job')")
        config = json.dumps({"queue": QUEUE, "task_type": "job"})
        await admin.execute("select queues.put_inlet($1, 'pgmq', 'pgmq:orders', $2)", QUEUE, config)
        await admin.execute("select queues.put_inlet('ledger', 'sqs', 'sqs:orders', $1)", config)
        for first in range(1, messages + 1, 10_000):
            await admin.execute(FILL, QUEUE, first, min(first + 9_999, messages))
        await admin.execute("vacuum analyze")
    finally:
        await admin.close()


async def moved(place: Place, messages: int, movers: int) -> Figures:
    """Our movers, as a worker runs them."""
    await fill(place, messages)
    around = Surroundings(Settings(_env_file=None), place.runtime_url, place.runtime_url)
    row = InletRow(QUEUE, "pgmq", "pgmq:orders")
    line = ReconnectingConnection(place.runtime_url, application_name="bench")
    running = [Mover(await open_inlet(row, around), InletCalls(line)) for _ in range(movers)]
    started = time.perf_counter()
    for mover in running:
        await mover.start()
    await _until(lambda: sum(mover.moved for mover in running) >= messages)
    seconds = time.perf_counter() - started
    for mover in running:
        await mover.stop()
    await line.close()
    return await _counted(place, messages, seconds)


class _Listed:
    """An inlet of messages in memory: what is left is the cost of the ledger and the queue."""

    name = "ledger"
    source = "sqs:orders"

    def __init__(self, messages: int) -> None:
        self._left = messages
        self.acknowledged = 0

    async def receive(self, limit: int, wait: float) -> Sequence[Incoming]:
        count = min(limit, self._left)
        self._left -= count
        if not count:
            await asyncio.sleep(wait)
        return [
            Incoming(f"message {n}", json.dumps({"n": n}), n) for n in range(self._left, self._left + count)
        ]

    async def acknowledge(self, receipts: Sequence[Receipt]) -> None:
        self.acknowledged += len(receipts)

    async def extend(self, receipts: Sequence[Receipt], seconds: float) -> None: ...

    async def refuse(self, receipt: Receipt, reason: str) -> None: ...

    async def aclose(self) -> None: ...


async def taken_in(place: Place, messages: int) -> Figures:
    """The path of SQS and BullMQ, without their network."""
    await fill(place, 1)
    line = ReconnectingConnection(place.runtime_url, application_name="bench")
    inlet = _Listed(messages)
    mover = Mover(inlet, InletCalls(line), MoverOptions(limit=BATCH))
    started = time.perf_counter()
    await mover.start()
    await _until(lambda: inlet.acknowledged >= messages)
    seconds = time.perf_counter() - started
    await mover.stop()
    await line.close()
    return await _counted(place, messages, seconds)


async def read_and_archived(place: Place, messages: int) -> Figures:
    """What pgmq's own clients do at the least: read a batch, archive it. No task comes of it."""
    await fill(place, messages)
    connection = await connect(place.admin_url)
    done = 0
    started = time.perf_counter()
    while done < messages:
        rows = await connection.fetch("select msg_id, message from pgmq.read($1, 30, $2)", QUEUE, BATCH)
        ids = [row["msg_id"] for row in rows]
        await connection.execute("select pgmq.archive($1, $2::bigint[])", QUEUE, ids)
        done += len(ids)
    seconds = time.perf_counter() - started
    await connection.close()
    return {"rate": messages / seconds, "seconds": seconds, "tasks": 0.0, "distinct": 0.0}


async def _until(done: Callable[[], bool]) -> None:
    while not done():  # noqa: ASYNC110  # movers count, they do not signal
        await asyncio.sleep(0.01)


async def _counted(place: Place, messages: int, seconds: float) -> Figures:
    admin = await connect(place.admin_url)
    try:
        row = await admin.fetchrow("select count(*), count(distinct payload) from queues.task")
        assert row is not None
        return {
            "rate": messages / seconds,
            "seconds": seconds,
            "tasks": float(row[0]),
            "distinct": float(row[1]),
        }
    finally:
        await admin.close()
