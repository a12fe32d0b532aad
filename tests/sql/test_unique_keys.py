"""Unique keys: what happens to a task whose key is in use, in every state of the one that holds it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.db import Record
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows

TENANTS = ("00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b")

# What becomes of a second task while the first is in this state, and who runs in the end.
FATES = [
    ("ready", "skip", "skipped", ["first"]),
    ("running", "skip", "skipped", ["first"]),
    ("retrying", "skip", "skipped", ["first"]),
    ("ready", "coalesce", "merged", ["first"]),
    ("running", "coalesce", "parked", ["first", "second"]),
    ("retrying", "coalesce", "parked", ["first", "second"]),
    ("ready", "replace", "ready", ["second"]),
    ("running", "replace", "parked", ["first", "second"]),
    ("retrying", "replace", "parked", ["first", "second"]),
]


async def holder_in(queue: Calls, worker: int, state: str) -> tuple[int, Record | None]:
    """A task that holds the key `k` and is in this state."""
    first = await queue.enqueue(unique_key="k")
    if state == "ready":
        await queue.admit()
        return first, None
    lease = await queue.claim_one(worker)
    if state == "retrying":
        assert (await queue.fail(worker, lease, retry_after=60))["outcome"] == "retry"
        return first, None
    return first, lease


async def drain(queue: Calls, worker: int) -> list[int]:
    """Run everything there is, in the order it comes."""
    ran = []
    for _ in range(20):
        leases = await queue.claim(worker, 10)
        ran += [lease["task_id"] for lease in leases]
        await queue.complete(worker, *leases)
        await queue.clock.advance(minutes=1)
    assert await queue.count("held") == 0
    return ran


@pytest.mark.parametrize(("state", "mode", "fate", "runs"), FATES)
async def test_a_second_task_with_the_same_key_is_skipped_merged_or_replaces_the_first(
    database: Database, state: str, mode: str, fate: str, runs: list[str]
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        first, lease = await holder_in(queue, worker, state)
        second = await queue.enqueue(unique_key="k", on_duplicate=mode)
        await queue.admit()
        assert await queue.state(second) == fate
        names = {first: "first", second: "second"}
        ran = []
        if lease is not None:
            await queue.complete(worker, lease)
            ran.append(first)
        ran += await drain(queue, worker)
        assert [names[task] for task in ran] == runs
        if mode == "replace" and state == "ready":
            assert await queue.state(first) == "replaced"


@pytest.mark.parametrize("mode", ["skip", "coalesce", "replace"])
async def test_the_key_of_two_delayed_tasks_is_decided_when_they_are_due(
    database: Database, mode: str
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        first = await queue.enqueue(unique_key="k", on_duplicate=mode, delay=timedelta(seconds=10))
        second = await queue.enqueue(unique_key="k", on_duplicate=mode, delay=timedelta(seconds=20))
        assert [await queue.state(first), await queue.state(second)] == ["waiting", "waiting"]
        await queue.clock.advance(minutes=1)
        assert await drain(queue, worker) == [second if mode == "replace" else first]
        ended = {"skip": ["skipped"], "coalesce": ["merged"], "replace": ["replaced"]}[mode]
        assert await queue.outcomes(first if mode == "replace" else second) == ended


@pytest.mark.parametrize("mode", ["skip", "coalesce", "replace"])
@pytest.mark.parametrize("end", ["completed", "dead", "cancelled", "quarantined"])
async def test_a_key_is_free_once_its_holder_has_ended(database: Database, end: str, mode: str) -> None:
    async with calls(database) as queue:
        await queue.put_type(max_losses=1)
        worker = await queue.worker()
        await queue.enqueue(unique_key="k")
        lease = await queue.claim_one(worker)
        match end:
            case "completed":
                assert await queue.complete(worker, lease) == [lease["lease_id"]]
            case "dead":
                assert (await queue.fail(worker, lease, final=True))["outcome"] == "dead"
            case "cancelled":
                assert await queue.close("close_cancelled", worker, lease) == [lease["lease_id"]]
            case _:
                assert [row["outcome"] for row in await queue.lose()] == ["quarantined"]
                worker = await queue.worker()
        again = await queue.enqueue(unique_key="k", on_duplicate=mode)
        assert await drain(queue, worker) == [again]


@pytest.mark.parametrize("mode", ["coalesce", "replace"])
async def test_many_wakeups_during_a_run_cause_exactly_one_more(database: Database, mode: str) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        first, lease = await holder_in(queue, worker, "running")
        wakeups = [await queue.enqueue(unique_key="k", on_duplicate=mode) for _ in range(5)]
        assert await queue.claim(worker, 10) == []
        wakeups += [await queue.enqueue(unique_key="k", on_duplicate=mode) for _ in range(5)]
        assert await queue.claim(worker, 10) == []
        assert lease is not None
        await queue.complete(worker, lease)
        assert await drain(queue, worker) == [wakeups[0] if mode == "coalesce" else wakeups[-1]]
        ends = [await queue.state(task) for task in wakeups]
        assert ends.count("completed") == 1
        assert ends.count("merged" if mode == "coalesce" else "replaced") == 9
        assert await queue.state(first) == "completed"


async def test_a_producer_that_rolls_back_does_not_lose_anothers_wake_up(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        _, lease = await holder_in(queue, worker, "running")
        async with database.connect("runtime") as other:
            rolled_back = other.transaction()
            await rolled_back.start()
            await rows(other, "enqueue", "job", {}, unique_key="k", on_duplicate="coalesce")
            kept = await queue.enqueue(unique_key="k", on_duplicate="coalesce")
            assert await queue.claim(worker, 10) == []
            await rolled_back.rollback()
        assert lease is not None
        await queue.complete(worker, lease)
        assert await drain(queue, worker) == [kept]


async def test_one_batch_of_one_key_runs_once(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        tasks = await queue.enqueue_many(10, unique_keys=["k"] * 5 + ["l"] * 5)
        assert await drain(queue, worker) == [tasks[0], tasks[5]]


async def test_the_types_own_rule_decides_when_the_call_says_nothing(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(on_duplicate="replace")
        worker = await queue.worker()
        await queue.enqueue(unique_key="k")
        newer = await queue.enqueue(unique_key="k")
        assert await drain(queue, worker) == [newer]


async def test_equal_keys_of_two_tenants_or_two_types_do_not_affect_each_other(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type("other")
        worker = await queue.worker()
        tasks = {
            await queue.enqueue(unique_key="k"),
            await queue.enqueue(unique_key="k", tenant_id=TENANTS[0]),
            await queue.enqueue(unique_key="k", tenant_id=TENANTS[1]),
            await queue.enqueue(unique_key="k", task_type="other"),
        }
        assert {lease["task_id"] for lease in await queue.claim(worker, 10)} == tasks


async def test_a_null_among_keys_means_no_key(database: Database) -> None:
    async with calls(database) as queue:
        tasks = await queue.enqueue_many(3, unique_keys=[None, "k", None])
        assert sorted(await queue.claimed_ids(await queue.worker())) == tasks


async def test_a_task_with_a_unique_and_a_limit_key_obeys_both(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        first = await queue.enqueue(unique_key="a", limit_key="mill")
        behind = await queue.enqueue(unique_key="b", limit_key="mill")
        assert await queue.claimed_ids(worker) == [first]
        assert await queue.state(behind) == "parked"
        # parked behind its limit key it has not started, so it still can be replaced
        newer = await queue.enqueue(unique_key="b", limit_key="mill", on_duplicate="replace")
        merged = await queue.enqueue(unique_key="b", limit_key="mill", on_duplicate="coalesce")
        assert await queue.claimed_ids(worker) == []
        assert [await queue.state(task) for task in (behind, newer, merged)] == [
            "replaced",
            "parked",
            "merged",
        ]
        running = await queue.admin.fetchval("select lease_id from queues.lease")
        await rows(queue.runtime, "complete", worker, [running])
        assert await drain(queue, worker) == [newer]


async def test_a_replaced_task_gives_up_its_slot(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        old = await queue.enqueue(unique_key="k", limit_key="mill", on_duplicate="replace")
        await queue.admit()
        assert await queue.state(old) == "ready"
        new = await queue.enqueue(unique_key="k", limit_key="mill", on_duplicate="replace")
        assert await drain(queue, worker) == [new]
        assert await queue.outcomes(old) == ["replaced"]


async def test_keys_are_stored_hashed(database: Database) -> None:
    async with calls(database) as queue:
        await queue.enqueue(unique_key="anna@example.org", limit_key="anna@example.org")
        await queue.admit()
        stored = await queue.admin.fetch("select key from queues.held")
        assert len(stored) == 2
        assert all(len(row["key"]) == 16 and b"anna" not in row["key"] for row in stored)
