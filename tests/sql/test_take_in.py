"""A message that another system delivered becomes a task exactly once; a bad one is refused by itself."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from penstock.db import Connection
from penstock.db.reconnecting import ReconnectingConnection
from penstock.observe import Metrics
from penstock.queue.duty_calls import DutyCalls
from penstock.worker.duties import read_gauges
from tests.plugins.database import Database
from tests.sql.queue_calls import JOB, Calls, calls, rows, value
from tests.sql.test_plans import touched_by
from tests.sql.two_sessions import until_it_waits

RETENTION_DAYS = 15


async def add_inlet(queue: Calls, name: str = "orders", **options: Any) -> None:
    await rows(queue.operator, "put_inlet", name, "sqs", f"sqs:{name}", **options)


async def take(connection: Connection, *messages: object, inlet: str = "orders") -> list[tuple[str, Any]]:
    """Outcome, and task or reason, of each message."""
    found = await connection.fetch("select * from queues.take_in($1, $2)", inlet, json.dumps(messages))
    assert [row["position"] for row in found] == list(range(len(messages)))
    return [(row["outcome"], row["reason"] or row["task_id"]) for row in found]


def message(key: object, payload: object = None, **fields: object) -> dict[str, object]:
    return {"key": key, "task_type": JOB, "payload": payload or {"n": 1}, **fields}


async def tasks(queue: Calls) -> int:
    return int(await queue.admin.fetchval("select count(*) from queues.task"))


async def counted(queue: Calls, inlet: str = "orders") -> tuple[int, int, int, int]:
    (row,) = await rows(queue.operator, "inlets", inlet)
    return row["received"], row["taken"], row["duplicates"], row["refused"]


async def test_a_message_becomes_a_task_once_however_often_it_is_delivered(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        ((outcome, task),) = await take(queue.runtime, message("a", {"id": 7}))
        assert outcome == "taken"
        assert await take(queue.runtime, message("a"), message("b"), message("b")) == [
            ("duplicate", task),
            ("taken", task + 1),
            ("duplicate", task + 1),
        ]
        assert await tasks(queue) == 2
        assert await counted(queue) == (4, 2, 2, 0)
        lease = await queue.claim_one(await queue.worker())
        assert (lease["task_id"], json.loads(lease["payload"])) == (task, {"id": 7})


async def test_the_ledger_and_the_task_are_one_transaction(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        transaction = queue.runtime.transaction()
        await transaction.start()
        await take(queue.runtime, message("a"))
        await transaction.rollback()
        assert await tasks(queue) == 0
        assert (await take(queue.runtime, message("a")))[0][0] == "taken"


async def test_two_bridges_that_take_the_same_messages_at_once_make_one_task_of_each(
    database: Database,
) -> None:
    async with calls(database) as queue, database.connect("runtime", name="second") as other:
        await add_inlet(queue)
        keys = [f"k{n}" for n in range(40)]
        transaction = queue.runtime.transaction()
        await transaction.start()
        first = await take(queue.runtime, *(message(key) for key in keys))
        second = asyncio.create_task(take(other, *(message(key) for key in reversed(keys))))
        await until_it_waits(queue.admin, second, "second")
        await transaction.commit()
        assert await second == [("duplicate", task) for _, task in reversed(first)]
        assert await tasks(queue) == len(keys)


BAD: list[tuple[object, str]] = [
    (5, "it has no key"),
    ({"task_type": JOB, "payload": {}}, "it has no key"),
    (message("t1", task_type="nothing"), "there is no task type 'nothing'"),
    (message("p2", [1]), "its payload is not a JSON object"),
    (message("p3", "{broken"), "its payload is not a JSON object"),
    (message("p4", "[1]"), "its payload is not a JSON object"),
    (message("p5", '{"a": "\\u0000"}'), "its payload is not a JSON object"),
    (message("p6", "[" * 50_000), "its payload is not a JSON object"),
    (message("p7", '{"a": 1e999999}'), "its payload is not a JSON object"),
    ({"key": "p", "task_type": JOB}, "it has no payload"),
    (message("big8", {"a": "x" * 1_048_577}), "exceeds the limit of 1048576"),
    (message("x9", tenant="nobody"), "its tenant is unknown"),
    (message("x10", tenant=""), "its tenant is unknown"),
    (message("x11", queue="nowhere"), "there is no queue 'nowhere'"),
    (message("x12", priority=10), "its priority is not a whole number from 0 to 9"),
    (message("x13", priority="high"), "its priority is not a whole number from 0 to 9"),
    (message("x14", max_attempts=0), "0 attempts are not between 1 and 1000"),
    (message("x15", max_attempts=-1), "its max_attempts is not a whole number from 1 to 1000"),
    (message("x16", scheduled_at="tomorrow"), "its scheduled_at is not a time"),
    (message("x17", scheduled_at="2026-02-31T00:00:00Z"), "its scheduled_at is not a time"),
    (message("x18", on_duplicate="maybe"), "'maybe' is not a way to treat duplicates"),
    ({**message("x19"), "refused": "the body is not JSON"}, "the body is not JSON"),
]


async def test_a_bad_message_is_refused_alone_with_a_reason(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        for n, (bad, reason) in enumerate(BAD):
            found = await take(queue.runtime, message(f"{n} before"), bad, message(f"{n} after"))
            assert [outcome for outcome, _ in found] == ["taken", "refused", "taken"], bad
            assert reason in found[1][1]
            (refusal,) = await rows(queue.operator, "inlet_refusals", "orders", 1)
            assert reason in refusal["reason"]
            assert (await take(queue.runtime, bad))[0][0] == "refused", "the ledger does not know it"
        assert await tasks(queue) == 2 * len(BAD)
        assert await queue.admin.fetchval("select count(*) from accounts.tenant") == 0


async def test_a_payload_without_a_required_key_is_refused_alone(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        await queue.put_type("strict", required_keys=["id"])
        found = await take(
            queue.runtime,
            message("a", {"id": 1}, task_type="strict"),
            message("b", {"no": 1}, task_type="strict"),
        )
        assert found[0][0] == "taken"
        assert found[1] == ("refused", "a payload of 'strict' lacks 'id'")


async def test_a_message_that_postgres_rejects_is_refused_when_it_is_alone(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        await queue.admin.execute(
            "alter table queues.task add constraint not_thirteen check (payload ->> 'n' <> '13')"
        )
        bad = message("bad", {"n": 13})
        with pytest.raises(asyncpg.CheckViolationError):
            await take(queue.runtime, bad, message("good"))
        ((outcome, reason),) = await take(queue.runtime, bad)
        assert outcome == "refused"
        assert reason.startswith("Postgres rejected it (23514): new row for relation")
        assert (await take(queue.runtime, message("good")))[0][0] == "taken"
        assert await counted(queue) == (2, 1, 0, 1)


async def test_a_message_refused_again_is_counted_and_listed_once(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        for _ in range(3):
            await take(queue.runtime, message("x", tenant="nobody"))
        assert await counted(queue) == (3, 0, 0, 1)
        assert len(await rows(queue.operator, "inlet_refusals", "orders")) == 1


async def test_an_inlet_accepts_only_the_types_it_was_given(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue, task_types=[JOB], config={"task_type": JOB})
        found = await take(
            queue.runtime, message("a", task_type="email"), {"key": "b", "payload": {}}, message("c")
        )
        assert found[0] == ("refused", "the inlet does not accept tasks of type 'email'")
        assert [outcome for outcome, _ in found[1:]] == ["taken", "taken"]


async def test_the_senders_wishes_reach_the_task(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        await take(
            queue.runtime,
            message("a", queue="email", priority=2, max_attempts=7, unique_key="u", limit_key="l"),
            message("b", scheduled_at="2099-01-01T00:00:00+01:00"),
        )
        first, second = await queue.admin.fetch("select * from queues.task order by task_id")
        assert (first["priority"], first["max_attempts"]) == (2, 7)
        assert None not in (first["unique_key"], first["limit_key"])
        assert second["scheduled_at"].isoformat() == "2098-12-31T23:00:00+00:00"


@pytest.mark.parametrize("mode", ["wait", "replace"])
async def test_messages_with_one_key_stay_in_their_order_whatever_else_they_wish(
    database: Database, mode: str
) -> None:
    """Which is first in a line, and which is the newest, is decided by the order of the tasks."""
    async with calls(database) as queue:
        await add_inlet(queue)
        wishes: list[dict[str, Any]] = [{}, {"task_type": "email"}, {}, {"priority": 1}, {"priority": 1}, {}]
        found = await take(
            queue.runtime,
            *(
                message(n, unique_key="k", on_duplicate=mode) | wish | {"payload": {"n": n}}
                for n, wish in enumerate(wishes)
            ),
        )
        assert {outcome for outcome, _ in found} == {"taken"}
        in_order = await queue.admin.fetchval(
            "select array_agg((payload ->> 'n')::int order by task_id) from queues.task"
        )
        assert in_order == list(range(len(wishes)))


async def test_a_paused_inlet_takes_nothing_in(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        await rows(queue.operator, "set_inlet", "orders", False)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await take(queue.runtime, message("a"))
        assert refused.value.sqlstate == "PS023"
        await rows(queue.operator, "set_inlet", "orders", True)
        assert (await take(queue.runtime, message("a")))[0][0] == "taken"


async def test_a_removed_inlet_that_comes_back_takes_nothing_twice(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        await take(queue.runtime, message("a"))
        await rows(queue.operator, "remove_inlet", "orders")
        with pytest.raises(asyncpg.PostgresError, match="there is no inlet 'orders'"):
            await take(queue.runtime, message("a"))
        await rows(queue.operator, "put_inlet", "again", "sqs", "sqs:orders")
        assert (await take(queue.runtime, message("a"), inlet="again"))[0][0] == "duplicate"


async def test_the_ledger_is_swept_after_the_senders_retention(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        await queue.admin.execute(f"update queues.inlet set retention = '{RETENTION_DAYS} days'")
        await take(queue.runtime, message("a"))
        await queue.clock.advance(days=RETENTION_DAYS - 1)
        await take(queue.runtime, message("b"))
        assert await value(queue.runtime, "sweep_inlets") == 0
        await queue.clock.advance(days=2)
        assert await value(queue.runtime, "sweep_inlets") == 1
        assert [outcome for outcome, _ in await take(queue.runtime, message("a"), message("b"))] == [
            "taken",
            "duplicate",
        ]
        assert await counted(queue) == (4, 3, 1, 0), "the counts were added up, not lost"


async def test_a_sweep_reads_only_what_it_removes_of_a_ledger_that_was_swept_before(
    database: Database,
) -> None:
    """Old and new rows share their pages once the space of swept ones is used again."""
    async with calls(database, real_time=True) as queue:
        await add_inlet(queue)
        await queue.admin.execute("vacuum analyze queues.taken")
        for _ in range(10):
            await rows(queue.runtime, "sweep_inlets")  # its plan is made while the ledger is empty
        await queue.admin.execute(
            "insert into queues.taken select i.inlet_id, sha256(n::text::bytea), n,"
            " now() - case when n % 100 = 0 then interval '40 days' else interval '1 day' end, null"
            " from queues.inlet i, generate_series(1, 20000) n"
        )
        touched = await touched_by(queue, rows(queue.runtime, "sweep_inlets"))
        assert await queue.count("taken") == 19_800
        # 200 are found by their age, read, and deleted
        assert touched["taken"] <= 700, touched
        assert (await touched_by(queue, rows(queue.runtime, "sweep_inlets"))).get("taken", 0) <= 300


async def test_a_limited_sweep_removes_the_oldest_first(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        await add_inlet(queue)
        await queue.admin.execute(
            "insert into queues.taken"
            " select i.inlet_id, sha256(n::text::bytea), n, now() - n * interval '1 day', null"
            " from queues.inlet i, generate_series(40, 50) n"
        )
        assert await value(queue.runtime, "sweep_inlets", 5) == 5
        assert await queue.admin.fetchval("select max(task_id) from queues.taken") == 45


async def test_an_inlet_of_a_tenant_is_no_other_tenants_business(database: Database) -> None:
    async with calls(database) as queue:
        acme, other = uuid4(), uuid4()
        for tenant, slug in ((acme, "acme"), (other, "other")):
            await queue.operator.execute(
                "select all_tenants.create_tenant($1, $2, $3, '', 'words')", tenant, uuid4(), slug
            )
        await add_inlet(queue, tenant="acme")
        found = await take(
            queue.runtime, message("a"), message("b", tenant="acme"), message("c", tenant="other")
        )
        assert [outcome for outcome, _ in found] == ["taken", "taken", "refused"]
        assert found[2][1] == "its tenant is not the tenant of this inlet"
        assert {row[0] for row in await queue.admin.fetch("select tenant_id from queues.task")} == {acme}
        async with queue.runtime.transaction():
            await queue.runtime.execute("select set_config('penstock.tenant_id', $1, true)", str(other))
            assert await rows(queue.runtime, "inlets") == []
            held = await queue.runtime.fetch("select * from queues.hold_inlets('x', array['sqs'], 10)")
            assert held == []
            assert await rows(queue.runtime, "inlet_gauges") == []
            with pytest.raises(asyncpg.PostgresError, match="there is no inlet 'orders'"):
                await take(queue.runtime, message("d"))
        async with queue.runtime.transaction():
            await queue.runtime.execute("select set_config('penstock.tenant_id', $1, true)", str(acme))
            assert [row["name"] for row in await rows(queue.runtime, "inlets")] == ["orders"]


async def test_the_gauges_of_a_worker_show_every_inlet_whoever_reads_it(database: Database) -> None:
    async with calls(database) as queue:
        await queue.operator.execute(
            "select all_tenants.create_tenant($1, $2, 'acme', '', 'words')", uuid4(), uuid4()
        )
        await add_inlet(queue, tenant="acme")
        await take(queue.runtime, message("a"), message("a"), {"key": "b", "refused": "bad"})
        line, metrics = ReconnectingConnection(database.runtime_url, application_name="gauges"), Metrics()
        try:
            await read_gauges(DutyCalls(line), metrics)
        finally:
            await line.close()
        shown = metrics.render().decode()
        for outcome, count in (("received", 3), ("taken", 1), ("duplicate", 1), ("refused", 1)):
            assert f'inlet_messages_counted{{inlet="orders",outcome="{outcome}"}} {count}.0' in shown
        assert 'inlet_silent_seconds{inlet="orders"}' in shown


async def test_a_bad_batch_is_an_error_with_a_remedy(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)
        assert await take(queue.runtime) == []
        for bad in ({"key": "a"}, ["x"] * 10_001):
            with pytest.raises(asyncpg.PostgresError) as refused:
                await queue.runtime.fetch("select * from queues.take_in('orders', $1)", json.dumps(bad))
            assert refused.value.sqlstate == "PS005"


async def test_an_inlet_is_held_by_one_process_until_it_is_silent(database: Database) -> None:
    async with calls(database) as queue:
        await add_inlet(queue)

        async def held(holder: str, status: str = "{}") -> list[str]:
            found = await queue.runtime.fetch(
                "select * from queues.hold_inlets($1, array['sqs'], 10, null, $2)", holder, status
            )
            return [row["name"] for row in found]

        assert await held("one") == ["orders"]
        assert await held("two") == []
        assert await held("one", '{"orders": {"backlog": 3, "lag_seconds": 1.5, "error": "away"}}') == [
            "orders"
        ]
        (row,) = await rows(queue.operator, "inlets")
        assert (row["holder"], row["backlog"], row["lag_seconds"], row["error"]) == ("one", 3, 1.5, "away")
        await queue.clock.advance(seconds=11)
        assert await held("two") == ["orders"]
        assert await held("one") == []
        await queue.runtime.fetch("select queues.free_inlets('two')")
        assert await held("one") == ["orders"]
        await rows(queue.operator, "set_inlet", "orders", False)
        assert await held("one") == []
