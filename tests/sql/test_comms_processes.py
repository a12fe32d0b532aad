"""The processes that send messages, in SQL alone: facts in, decisions out, whatever the queue does."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.document_calls import call, tenant_transaction
from tests.sql.message_calls import KINDS, Kind, MessageCalls, message_calls
from tests.sql.two_sessions import until_it_waits

pytestmark = pytest.mark.parametrize("kind", KINDS)

NO_PAYLOAD: tuple[Any, ...] = (None, [], "x", 7, {})
NO_CHECK: tuple[Any, ...] = (0, 2, None, "1", "x", {})
NO_ID: tuple[Any, ...] = (None, "7", "x", 0, -1, 1.5, True, [], {}, 10**30)


async def test_kickoff_twice_is_one_task_and_one_supervisor(kind: Kind, database: Database) -> None:
    async with message_calls(kind, database) as calls:
        message_id = await calls.create()
        first = await calls.kickoff(message_id)
        before = await calls.state()
        assert await calls.kickoff(message_id) == first
        assert await calls.state() == before
        assert (before["tasks"], before["roots"], before["queued"]) == (1, 1, 1)


async def test_simultaneous_kickoffs_create_one_task(kind: Kind, database: Database) -> None:
    async with message_calls(kind, database) as calls, database.connect("runtime", name="second") as second:
        message_id = await calls.create()
        kickoff = f"comms.kickoff_send_{kind}"
        async with tenant_transaction(calls.runtime, calls.acme):
            first = (await call(calls.runtime, kickoff, message_id))[0]

            async def at_once() -> asyncpg.Record:
                async with tenant_transaction(second, calls.acme):
                    return (await call(second, kickoff, message_id))[0]

            waiting = asyncio.create_task(at_once())
            await until_it_waits(calls.admin, waiting, "second")
        assert tuple(await waiting) == tuple(first)
        state = await calls.state()
        assert (state["tasks"], state["roots"], state["queued"]) == (1, 1, 1)


@pytest.mark.parametrize("by_hand", [True, False])
async def test_two_supervisors_at_once_run_one_after_the_other_and_make_one_attempt(
    kind: Kind, by_hand: bool, database: Database
) -> None:
    async with message_calls(kind, database) as calls, database.connect("runtime", name="second") as second:
        task_id = await calls.start()
        payload = {calls.task_key: task_id} | ({} if by_hand else {"check": 1})
        async with tenant_transaction(calls.runtime, calls.acme):
            run = "select internal.run_function($1, $2) -> 'payload' ->> 'outcome'"
            assert await calls.runtime.fetchval(run, calls.supervisor, json.dumps(payload)) == "attempted"
            waiting = asyncio.create_task(calls.run(calls.supervisor, payload, on=second))
            await until_it_waits(calls.admin, waiting, "second")
        outcome = (await waiting)["payload"]["outcome"]
        assert outcome == ("waiting" if by_hand else "overtaken")
        assert (await calls.state())["attempts"] == 1


async def test_failures_are_tried_again_after_5_20_80_and_320_seconds_and_then_never(
    kind: Kind, database: Database
) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        assert await calls.work("processes") == [calls.supervisor]
        for seconds in (5, 20, 80, 320):
            attempt = await calls.attempt(task_id)
            assert await calls.tell("failure", attempt[0], error="later", retriable=True) == "succeeded"
            await calls.work("processes")
            await calls.clock.advance(seconds=seconds - 1)
            await calls.work("processes")
            assert await calls.attempt(task_id) == attempt
            await calls.clock.advance(seconds=1)
            assert await calls.work("processes") == [calls.supervisor]
            assert await calls.attempt(task_id) != attempt
        assert await calls.tell("failure", (await calls.attempt(task_id))[0], error="later") == "succeeded"
        await calls.work("processes")
        assert await calls.root(task_id) is None
        assert await calls.supervise(task_id) == "max_attempts_reached"
        assert (await calls.state())["attempts"] == 5
        await calls.clock.advance(days=2)
        assert await calls.work("processes") == []


async def test_an_attempt_without_outcome_is_watched_and_not_made_twice(
    kind: Kind, database: Database
) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        await calls.work("processes")
        for _ in range(3):
            root = await calls.root(task_id)
            assert root is not None
            assert root["next_check_at"] - calls.clock.now >= timedelta(seconds=30)
            await calls.clock.advance(seconds=(root["next_check_at"] - calls.clock.now).total_seconds())
            assert await calls.work("processes") == [calls.supervisor]
        assert (await calls.state())["attempts"] == 1


async def test_facts_are_written_once_and_a_success_is_never_taken_back(
    kind: Kind, database: Database
) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        await calls.work("processes")
        attempt_id = (await calls.attempt(task_id))[0]
        for _ in range(2):
            assert await calls.tell("success", attempt_id, worker_payload={"sid": "1"}) == "succeeded"
            assert await calls.tell("failure", attempt_id, error="late") == "succeeded"
        state = await calls.state()
        assert (state["succeeded"], state["failed"]) == (1, 0)
        await calls.work("processes")
        assert await calls.root(task_id) is None
        again = await calls.state()
        assert await calls.tell("success", attempt_id, worker_payload={}) == "succeeded"
        assert await calls.state() == again


async def test_bad_input_to_kickoff_writes_nothing(kind: Kind, database: Database) -> None:
    async with message_calls(kind, database) as calls:
        theirs = await calls.create(calls.other)
        before = await calls.state()
        for message_id in (None, 0, -1, 10**18, theirs):
            refused, task_id = await calls.kickoff(message_id)
            assert refused, message_id
            assert task_id is None
        with pytest.raises(asyncpg.DataError):
            await calls.runtime.execute(f"select comms.kickoff_send_{kind}('seven')")
        assert await calls.state() == before


async def test_invalid_input_to_supervisor_and_handlers_is_refused_with_a_message_and_writes_nothing(
    kind: Kind, database: Database
) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        await calls.work("processes")
        attempt_id = (await calls.attempt(task_id))[0]
        before = await calls.state()

        async def refused(function: str, payload: object, *, by_other: bool = False) -> None:
            answer = await calls.run(function, payload, calls.other if by_other else None)
            assert answer["status"] != "succeeded", (function, payload)
            assert answer["validation_failure_message"], (function, payload)

        handlers = {
            calls.handler("get"): False,
            calls.handler("success"): True,
            calls.handler("failure"): True,
        }
        for payload in NO_PAYLOAD:
            for function in (calls.supervisor, *handlers):
                await refused(function, payload)
        for wrong in (*NO_ID, 10**17):
            await refused(calls.supervisor, {calls.task_key: wrong})
            for function, wrapped in handlers.items():
                inner = {calls.attempt_key: wrong}
                await refused(function, {"original_payload": inner} if wrapped else inner)
        await refused(calls.supervisor, {calls.task_key: task_id}, by_other=True)
        for function, wrapped in handlers.items():
            inner = {calls.attempt_key: attempt_id}
            await refused(function, {"original_payload": inner} if wrapped else inner, by_other=True)
        assert await calls.state() == before


async def test_a_supervisors_run_with_a_wrong_check_number_does_nothing(
    kind: Kind, database: Database
) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        before = await calls.state()
        for check in NO_CHECK:
            answer = await calls.run(calls.supervisor, {calls.task_key: task_id, "check": check})
            assert answer["payload"]["outcome"] == "overtaken", check
        assert await calls.state() == before


async def test_a_channel_task_that_is_cancelled_ends_as_a_failure(kind: Kind, database: Database) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        await calls.work("processes")
        channel_task = (await calls.attempt(task_id))["task_id"]
        assert await calls.operator.fetchval("select queues.cancel_task($1)", channel_task) == "cancelled"
        assert await calls.work(kind) == [calls.handler("failure")]
        assert await calls.failures(task_id) == [("Cancelled: cancelled by an operator", True)]
        await _second_attempt_follows(calls, task_id)


async def test_a_channel_task_in_quarantine_ends_as_a_failure(kind: Kind, database: Database) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        await calls.work("processes")
        outcomes = []
        for _ in range(3):
            lease = await calls.claim(await calls.worker(kind), kind)
            assert lease is not None
            await calls.clock.advance(seconds=31)
            outcomes += [row["outcome"] for row in await calls.runtime.fetch("select * from queues.rescue()")]
        assert outcomes == ["returned", "returned", "quarantined"]
        assert await calls.work(kind) == [calls.handler("failure")]
        [(error, retriable)] = await calls.failures(task_id)
        assert ("3 workers were lost" in error, retriable) == (True, True)
        await _second_attempt_follows(calls, task_id)


async def test_the_sweep_finds_a_root_whose_supervisor_was_removed(kind: Kind, database: Database) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        root = await calls.root(task_id)
        assert root is not None
        assert await _swept(calls) == 0
        await calls.operator.fetchval("select queues.cancel_task($1)", root["task_id"])
        assert await calls.work("processes") == []
        assert await _swept(calls) == 0  # the run that took it may be about to enqueue another
        await calls.clock.advance(seconds=61)
        assert await _swept(calls) == 1
        assert await _swept(calls) == 0
        root = await calls.root(task_id)
        assert root is not None
        assert root["swept"] == 1
        assert await calls.work("processes") == [calls.supervisor]
        assert (await calls.state())["attempts"] == 1


async def test_an_attempt_without_an_outcome_is_a_failure_half_a_minute_after_its_task_ended(
    kind: Kind, database: Database
) -> None:
    async with message_calls(kind, database) as calls:
        task_id = await calls.start()
        await calls.work("processes")
        worker = await calls.worker(kind)
        lease = await calls.claim(worker, kind)
        assert lease is not None
        await calls.runtime.fetch(
            "select * from queues.fail($1, $2, array['E'], array['broken'], _final => array[true])",
            worker,
            [lease["lease_id"]],
        )
        handler_task = await calls.admin.fetchval("select max(task_id) from queues.task")
        await calls.operator.execute("select queues.cancel_task($1)", handler_task)
        assert await calls.operator.fetchval("select queues.purge_dead()") == 1
        assert await calls.work(kind) == []
        assert await calls.supervise(task_id) == "waiting"
        await calls.clock.advance(seconds=31)
        assert await calls.work("processes") == [calls.supervisor] * 2  # it recorded, and so woke itself
        assert await calls.failures(task_id) == [("its task ended without an outcome", True)]
        await _second_attempt_follows(calls, task_id)


async def _second_attempt_follows(calls: MessageCalls, task_id: int) -> None:
    await calls.work("processes")
    await calls.clock.advance(seconds=5)
    assert await calls.work("processes") == [calls.supervisor]
    state = await calls.state()
    assert (state["attempts"], state["failed"]) == (2, 1)


async def _swept(calls: MessageCalls) -> int:
    count: int = await calls.runtime.fetchval("select all_tenants.sweep_processes()")
    return count
