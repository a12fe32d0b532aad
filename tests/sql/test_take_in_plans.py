"""Taking messages in costs the same whatever the ledger looked like when its plan was made."""

from __future__ import annotations

import json

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows
from tests.sql.test_plans import touched_by

LEDGER = 20_000


def batch(first: int, count: int) -> str:
    keyed = ({"key": f"k{n}", "task_type": "job", "payload": {"n": n}} for n in range(first, first + count))
    return json.dumps(list(keyed))


async def touched(queue: Calls, messages: str) -> int:
    """Rows of the ledger that a call reads."""
    found = await touched_by(queue, rows(queue.runtime, "take_in", "orders", messages))
    return found.get("taken", 0)


async def test_a_plan_cached_while_the_ledger_was_empty_works_for_a_large_one(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        await rows(queue.operator, "put_inlet", "orders", "sqs", "sqs:orders")
        await queue.admin.execute("vacuum analyze queues.taken")
        for n in range(10):
            await rows(queue.runtime, "take_in", "orders", batch(10 * n, 10))
        await queue.admin.execute(
            "insert into queues.taken select i.inlet_id, sha256(n::text::bytea), n, now(), null"
            f" from queues.inlet i, generate_series(1, {LEDGER}) n"
        )
        # 100 are looked up, and those that are found once more for the answer; not the ledger
        assert await touched(queue, batch(1_000, 100)) <= 300
        assert await touched(queue, batch(1_000, 100)) <= 300, "all of them are duplicates"
        assert await touched(queue, batch(2_000, 10_000)) <= 21_000
