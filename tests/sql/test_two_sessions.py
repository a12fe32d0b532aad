"""Two sessions at once: no two calls deadlock, nothing is finished twice, nobody waits without need."""

from __future__ import annotations

import asyncio
import itertools
import os

import asyncpg
import pytest

from penstock.db import Connection
from tests.plugins.database import Database
from tests.sql.two_sessions import (
    ACTIONS,
    QUEUE,
    REFUSALS,
    Action,
    Round,
    Session,
    quick_to_see_deadlocks,
    stock,
    transact,
    until_it_waits,
)

LONG = bool(os.environ.get("PENSTOCK_CHAOS_LONG"))
ROUNDS = 24 if LONG else 6
BATCH = 300

CLOSERS = {
    "complete": "select queues.complete($1, $2)",
    "fail": "select queues.fail($1, $2, '{}', '{}')",
    "snooze": "select queues.snooze($1, $2, array_fill(0::float8, array[cardinality($2::bigint[])]))",
    "release": "select queues.release($1, $2)",
    "close_cancelled": "select queues.close_cancelled($1, $2)",
    "stop_worker": "select queues.stop_worker($1), $2::bigint[]",
}


@pytest.mark.chaos
@pytest.mark.timeout(1_800 if LONG else 180)
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


@pytest.mark.parametrize("one", ["complete", "fail", "release"])
async def test_two_closers_of_the_same_leases_do_not_deadlock(database: Database, one: str) -> None:
    """Big batches, named in opposite order, lying in the heap in a third one."""
    found: list[str] = []
    async with (
        quick_to_see_deadlocks(database, "first") as first,
        quick_to_see_deadlocks(database, "second") as second,
    ):
        await _declare(first)
        for other in CLOSERS:
            for _ in range(3):
                worker = await _register(first)
                leases = await _lease(first, worker, BATCH)
                await first.execute(
                    "with gone as (delete from queues.lease returning *)"
                    " insert into queues.lease select * from gone order by lease_id desc"
                )
                states = await asyncio.gather(
                    _sqlstate(first, CLOSERS[one], worker, leases),
                    _sqlstate(second, CLOSERS[other], worker, leases[::-1]),
                )
                found += [f"{one} and {other}: {state}" for state in states if state is not None]
    assert not found, "\n".join(found)


async def test_a_rescue_that_races_a_completion_never_overwrites_a_finish(database: Database) -> None:
    async with database.connect(name="worker") as worker, database.connect(name="rescuer") as rescuer:
        await _declare(worker)
        worker_id = await _register(worker)
        leases = await _lease(worker, worker_id, 500)
        rows = await worker.fetch("select lease_id, task_id from queues.lease")
        tasks = {row["lease_id"]: row["task_id"] for row in rows}
        await worker.execute(
            "update queues.worker set beat_at = now() - interval '2 days' where worker_id > 0"
        )
        completed: set[int] = set()
        rescued: set[int] = set()
        for lease_id in leases:
            closed, taken = await asyncio.gather(
                worker.fetchval("select queues.complete($1, array[$2::bigint])", worker_id, lease_id),
                rescuer.fetch("select task_id, outcome from queues.rescue(1)"),
            )
            completed |= {tasks[closed_id] for closed_id in closed}
            rescued |= {row["task_id"] for row in taken}
        attempts = await worker.fetch("select task_id, outcome::text from queues.attempt")
        ready = {row["task_id"] for row in await worker.fetch("select task_id from queues.ready")}
    assert completed
    assert rescued
    assert not completed & rescued
    assert completed | rescued == set(tasks.values())
    assert sorted((row["task_id"], row["outcome"]) for row in attempts) == sorted(
        [(task_id, "completed") for task_id in completed] + [(task_id, "lost") for task_id in rescued]
    )
    assert ready == rescued


async def test_a_completion_held_open_does_not_block_the_rescue_of_other_leases(database: Database) -> None:
    async with database.connect(name="worker") as worker, database.connect(name="rescuer") as rescuer:
        await _declare(worker)
        worker_id = await _register(worker)
        first, *others = await _lease(worker, worker_id, 50, key="k")
        await worker.execute(
            "update queues.worker set beat_at = now() - interval '2 days' where worker_id > 0"
        )
        async with worker.transaction():
            await worker.fetchval("select queues.complete_here($1, $2)", worker_id, first)
            # Any wait for a lock would now be an error.
            await rescuer.execute("set lock_timeout = '20ms'")
            rescued = await rescuer.fetch("select task_id from queues.rescue()")
            waits = await rescuer.fetchval(
                "select count(*) from pg_locks where not granted and database ="
                " (select oid from pg_database where datname = current_database())"
            )
        assert len(rescued) == len(others)
        assert waits == 0
        assert await worker.fetchval("select count(*) from queues.attempt where outcome = 'completed'") == 1


async def test_two_operators_who_replay_a_thousand_dead_letters_at_once_make_a_thousand_attempts(
    database: Database,
) -> None:
    async with database.connect(name="one") as one, database.connect(name="other") as other:
        await _declare(one)
        worker_id = await _register(one)
        leases = await _lease(one, worker_id, 1000)
        await one.fetch(
            "select queues.fail($1, $2, array_fill('E'::text, $3), array_fill(''::text, $3),"
            " _final => array_fill(true, $3))",
            worker_id,
            leases,
            [len(leases)],
        )
        assert await one.fetchval("select count(*) from queues.dead_letter") == 1000
        replayed: list[int] = []
        for _ in range(2):
            for ids in await asyncio.gather(
                one.fetchval("select queues.replay(_task_type => 'job')"),
                other.fetchval("select queues.replay(_error_code => 'E')"),
            ):
                replayed += ids
        assert len(replayed) == len(set(replayed)) == 1000
        claimed = await one.fetch("select task_id from queues.claim($1, $2, 5000)", worker_id, QUEUE)
        assert sorted(row["task_id"] for row in claimed) == sorted(replayed)
        assert await one.fetchval("select count(*) from queues.audit where action = 'replay'") == 1000


@pytest.mark.parametrize(("end", "said"), [("commit", "requested"), ("rollback", "cancelled")])
async def test_a_cancel_waits_for_the_claim_in_progress_and_then_ends(
    database: Database, end: str, said: str
) -> None:
    async with (
        database.connect(name="worker") as worker,
        database.connect(name="operator") as operator,
        database.connect(name="watcher") as watcher,
    ):
        await _declare(worker)
        worker_id = await _register(worker)
        task_id = await worker.fetchval("select queues.enqueue('job')")
        await worker.execute("begin")
        await worker.fetch("select from queues.claim($1, $2, 1)", worker_id, QUEUE)
        cancel = asyncio.create_task(operator.fetchval("select queues.cancel_task($1)", task_id))
        await until_it_waits(watcher, cancel, "operator")
        await worker.execute(end)
        assert await cancel == said


@pytest.mark.parametrize("end", ["commit", "rollback"])
@pytest.mark.parametrize("key", ["unique_key", "limit_key"])
async def test_a_parked_task_that_is_cancelled_while_its_key_comes_free_does_not_run(
    database: Database, key: str, end: str
) -> None:
    """Nor does the claim wait for the operator; and when the operator thinks better of it, the task runs."""
    async with database.connect(name="worker") as worker, database.connect(name="operator") as operator:
        await _declare(worker)
        worker_id = await _register(worker)
        enqueue = f"select queues.enqueue('job', _{key} => 'k', _on_duplicate => 'coalesce')"
        await worker.fetchval(enqueue)
        holder = await worker.fetchrow("select * from queues.claim($1, $2, 5)", worker_id, QUEUE)
        parked = await worker.fetchval(enqueue)
        assert not await _claimed(worker, worker_id)
        await operator.execute("begin")
        assert await operator.fetchval("select queues.cancel_task($1)", parked) == "cancelled"
        assert holder is not None
        await worker.fetchval("select queues.complete($1, array[$2::bigint])", worker_id, holder["lease_id"])
        await worker.execute("set lock_timeout = '20ms'")
        assert not await _claimed(worker, worker_id)
        await operator.execute(end)
        assert await _claimed(worker, worker_id) == ([parked] if end == "rollback" else [])


@pytest.mark.parametrize("close", ["fail", "snooze", "release"])
async def test_a_cancel_that_crosses_the_end_of_a_run_is_not_forgotten(
    database: Database, close: str
) -> None:
    async with (
        database.connect(name="worker") as worker,
        database.connect(name="operator") as operator,
        database.connect(name="watcher") as watcher,
    ):
        await _declare(worker)
        worker_id = await _register(worker)
        task_id = await worker.fetchval("select queues.enqueue('job')")
        claimed = await worker.fetchrow("select * from queues.claim($1, $2, 1)", worker_id, QUEUE)
        assert claimed is not None
        await worker.execute("begin")
        await _sqlstate(worker, CLOSERS[close], worker_id, [claimed["lease_id"]])
        cancel = asyncio.create_task(operator.fetchval("select queues.cancel_task($1)", task_id))
        await until_it_waits(watcher, cancel, "operator")
        await worker.execute("commit")
        assert await cancel == "cancelled"
        assert not await _claimed(worker, worker_id)


async def test_a_worker_that_stops_days_late_does_not_deadlock_with_maintenance(database: Database) -> None:
    """Both delete its idle row and then want its own row; a third session holds them up at the start."""
    async with (
        quick_to_see_deadlocks(database, "late") as late,
        quick_to_see_deadlocks(database, "maintenance") as maintenance,
        database.connect(name="watcher") as watcher,
    ):
        await _declare(late)
        worker_id = await _register(late)
        await late.execute("update queues.worker set lost_at = now() - interval '2 days' where worker_id > 0")
        await late.fetch("select queues.go_idle($1, $2, true)", worker_id, QUEUE)
        await watcher.execute("begin; select from queues.idle for update")
        maintain = asyncio.create_task(maintenance.fetch("select queues.maintain()"))
        await until_it_waits(watcher, maintain, "maintenance")
        stop = asyncio.create_task(late.fetch("select queues.stop_worker($1)", worker_id))
        await until_it_waits(watcher, stop, "late")
        await watcher.execute("commit")
        await asyncio.gather(maintain, stop)


async def test_maintenance_gives_way_to_a_transaction_that_closes_leases(database: Database) -> None:
    """It needs the exclusive locks of task and attempt, the transaction has one and comes for the other."""
    async with (
        database.connect(name="worker") as worker,
        database.connect(name="maintenance") as maintenance,
        database.connect(name="watcher") as watcher,
    ):
        await _declare(worker)
        worker_id = await _register(worker)
        (keyed,) = await _lease(worker, worker_id, 1, key="k")
        (plain,) = await _lease(worker, worker_id, 1)
        await worker.execute(
            "update queues.partition set closed_at = now() - interval '1 year' where to_id > 200000000"
        )
        await worker.execute("begin")
        await worker.fetchval("select queues.complete($1, array[$2::bigint])", worker_id, plain)
        maintain = asyncio.create_task(maintenance.fetchval("select queues.maintain()"))
        await until_it_waits(watcher, maintain, "maintenance")
        await worker.fetchval("select queues.complete($1, array[$2::bigint])", worker_id, keyed)
        await worker.execute("commit")
        await maintain


async def test_a_replay_during_maintenance_keeps_its_task(database: Database) -> None:
    """The task's own row left with its partition and the copy of an earlier replay is old enough to go."""
    async with database.connect(name="operator") as operator, database.connect(name="maintenance") as other:
        await _declare(operator)
        worker_id = await _register(operator)
        await _lease(operator, worker_id, 1)
        await operator.fetch(
            "select queues.fail($1, array[l.lease_id], array['E'], array[''], _final => array[true])"
            " from queues.lease l",
            worker_id,
        )
        await operator.execute(
            "insert into queues.task_kept select k.* from queues.task t, jsonb_populate_record("
            "null::queues.task_kept, "
            "to_jsonb(t) || jsonb_build_object('kept_at', now() - interval '30 days')) k"
        )
        await operator.execute("delete from queues.task")
        await operator.execute("begin")
        (task_id,) = await operator.fetchval("select queues.replay()")
        await other.execute("set lock_timeout = '20ms'")
        await other.fetchval("select queues.maintain()")
        await operator.execute("commit")
        assert await _claimed(operator, worker_id) == [task_id]


async def _collide(
    sessions: tuple[Session, Session], rounds: list[Round], one: Action, other: Action
) -> list[str]:
    if one.goes_with(other):
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


async def _declare(connection: Connection) -> None:
    await connection.execute(
        "select queues.put_task_type('job', 'q', _retry => "
        """'{"default": {"kind": "table", "delays": [0, 0, 0, 0]}}');"""
        "select queues.put_limits('q', 'each_key', null, 1)"
    )


async def _lease(connection: Connection, worker_id: int, count: int, *, key: str | None = None) -> list[int]:
    """Leases of new tasks, one of them with a unique key when one is given; the worker may hold others."""
    if key is not None:
        await connection.fetchval("select queues.enqueue('job', _unique_key => $1)", key)
    await connection.fetchval(
        "select queues.enqueue_many('job', array_fill('{}'::jsonb, array[$1::integer]))",
        count - (key is not None),
    )
    rows = await connection.fetch("select lease_id from queues.claim($1, $2, $3)", worker_id, QUEUE, count)
    assert len(rows) == count
    return sorted(row["lease_id"] for row in rows)


async def _claimed(connection: Connection, worker_id: int) -> list[int]:
    rows = await connection.fetch("select task_id from queues.claim($1, $2, 100)", worker_id, QUEUE)
    return [row["task_id"] for row in rows]


async def _sqlstate(connection: Connection, statement: str, worker_id: int, leases: list[int]) -> str | None:
    try:
        await connection.fetch(statement, worker_id, leases)
    except asyncpg.PostgresError as error:
        return error.sqlstate
    return None


async def _register(connection: Connection) -> int:
    return int(
        await connection.fetchval("select queues.register_worker('pair', array['q'], interval '1 day')")
    )
