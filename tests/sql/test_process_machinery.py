"""Roots and their supervisors: each root has one scheduled check, and outdated checks do nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.document_calls import tenant_transaction
from tests.sql.process_calls import PROCESS, SUPERVISOR, processes
from tests.sql.two_sessions import until_it_waits

MINUTE = timedelta(minutes=1)


async def test_a_process_that_starts_has_a_root_and_a_scheduled_supervisor(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        root = await of.open_root(root_id)
        assert (root["tenant_id"], root["check_number"], root["swept"]) == (of.tenant.tenant_id, 1, 0)
        assert root["next_check_at"] == root["opened_at"] == of.calls.clock.now
        assert await of.state(root["task_id"]) == "ready"
        assert await of.payload(root["task_id"]) == {
            "task_type": "db_function",
            "db_function": SUPERVISOR,
            "send_sms_task_id": root_id,
            "check": 1,
        }


async def test_a_root_that_is_open_is_not_opened_again(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        before = await of.root(root_id)
        await of.machinery("start_process", PROCESS, root_id)
        assert await of.root(root_id) == before


async def test_a_process_may_start_later(database: Database) -> None:
    async with processes(database) as of:
        at = of.calls.clock.now + timedelta(hours=1)
        root = await of.open_root(await of.start(scheduled_at=at))
        assert root["next_check_at"] == at
        assert await of.state(root["task_id"]) == "waiting"


async def test_the_next_check_replaces_the_scheduled_one(database: Database) -> None:
    async with processes(database) as of:
        at = of.calls.clock.now + timedelta(hours=1)
        root_id = await of.start(scheduled_at=at)
        first = await of.open_root(root_id)
        sooner = at - timedelta(minutes=30)
        assert await of.machinery("next_check", PROCESS, root_id, sooner) == sooner
        second = await of.open_root(root_id)
        assert (second["check_number"], second["next_check_at"]) == (2, sooner)
        assert await of.state(first["task_id"]) == "replaced"
        assert await of.state(second["task_id"]) == "waiting"
        assert await of.machinery("next_check", PROCESS, root_id) == of.calls.clock.now
        third = await of.open_root(root_id)
        assert await of.state(second["task_id"]) == "replaced"
        assert (await of.state(third["task_id"]), third["check_number"]) == ("ready", 3)


async def test_only_a_waiting_task_without_a_key_can_be_withdrawn(database: Database) -> None:
    async with processes(database) as of:
        enqueue = "select queues.enqueue('db_function', '{}', _delay => $1, _unique_key => $2)"
        waiting = await of.calls.runtime.fetchval(enqueue, MINUTE, None)
        keyed = await of.calls.runtime.fetchval(enqueue, MINUTE, "k")
        ready = await of.calls.runtime.fetchval(enqueue, None, None)
        withdrawn = [
            await of.calls.admin.fetchval("select queues.withdraw($1)", task)
            for task in (waiting, waiting, keyed, ready, 10**9)
        ]
        assert withdrawn == [True, False, False, False, False]
        assert [await of.state(task) for task in (waiting, keyed, ready)] == ["replaced", "waiting", "ready"]


async def test_an_outdated_check_decides_nothing(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        await of.machinery("next_check", PROCESS, root_id)
        before = await of.open_root(root_id)
        assert await of.outcome(root_id, check=1) == "overtaken"
        assert await of.outcome(root_id, check=7) == "overtaken"
        assert await of.root(root_id) == before
        assert await of.outcome(root_id, check=2) == "attempted"
        assert (await of.open_root(root_id))["check_number"] == 3
        assert await of.outcome(root_id, check=2) == "overtaken", "the same task run twice attempts once"


async def test_a_supervisor_called_by_hand_counts(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        assert await of.outcome(root_id) == "attempted"
        assert await of.outcome(root_id) == "waiting"


async def test_a_wake_up_waits_for_a_run_in_progress_and_takes_effect_after_it(database: Database) -> None:
    async with processes(database) as of, database.connect("admin", name="waker") as waker:
        root_id = await of.start()
        async with tenant_transaction(of.calls.runtime, of.tenant) as running:
            await running.execute(
                "select internal.run_function($1, $2)", SUPERVISOR, f'{{"send_sms_task_id": {root_id}}}'
            )
            waking = asyncio.create_task(of.machinery("next_check", PROCESS, root_id, on=waker))
            await until_it_waits(of.calls.admin, waking, "waker")
        assert await waking == of.calls.clock.now
        root = await of.open_root(root_id)
        assert (root["check_number"], root["next_check_at"]) == (3, of.calls.clock.now)


async def test_a_success_ends_the_process_and_no_check_comes_after_it(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        attempt_id = await of.attempt(root_id)
        pending = await of.open_root(root_id)
        await of.report(attempt_id)
        assert await of.root(root_id) is None
        assert await of.state(pending["task_id"]) == "replaced"
        tasks = await of.calls.admin.fetchval("select count(*) from queues.task")
        assert await of.machinery("next_check", PROCESS, root_id) is None
        assert await of.outcome(root_id, check=pending["check_number"]) == "overtaken"
        assert await of.outcome(root_id) == "done"
        await of.report(attempt_id)
        await of.report(attempt_id, "it failed after all")
        assert await of.calls.admin.fetchval("select count(*) from queues.task") == tasks
        assert await of.calls.admin.fetchval("select count(*) from comms.send_sms_attempt_succeeded") == 1
        assert await of.calls.admin.fetchval("select count(*) from comms.send_sms_attempt_failed") == 0


async def test_ending_withdraws_the_check_that_waits(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start(scheduled_at=of.calls.clock.now + MINUTE)
        task_id = (await of.open_root(root_id))["task_id"]
        await of.machinery("end_process", PROCESS, root_id)
        assert await of.root(root_id) is None
        assert await of.state(task_id) == "replaced"


async def test_another_tenants_root_is_neither_woken_nor_ended_nor_restarted(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        before = await of.root(root_id)
        other = replace(of, tenant=await of.calls.create_tenant("other"))
        assert await other.machinery("next_check", PROCESS, root_id) is None
        await other.machinery("end_process", PROCESS, root_id)
        assert not await other.machinery("restart_process", PROCESS, root_id)
        assert await of.root(root_id) == before
        await of.machinery("end_process", PROCESS, root_id)
        assert not await other.machinery("restart_process", PROCESS, root_id)


@pytest.mark.parametrize(
    "function", ["start_process", "next_check", "end_process", "restart_process", "is_current_check"]
)
async def test_without_a_tenant_internal_functions_refuse_to_run(database: Database, function: str) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        if function == "restart_process":
            await of.machinery("end_process", PROCESS, root_id)
        before = await of.root(root_id)
        more = ", '{}'" if function == "is_current_check" else ""
        with pytest.raises(asyncpg.PostgresError) as refused:
            await of.calls.admin.fetch(f"select internal.{function}('{PROCESS}', {root_id}{more})")
        assert (refused.value.sqlstate, refused.value.detail) == ("PS012", "penstock.tenant_id")
        assert await of.root(root_id) == before


async def test_a_process_that_failed_for_good_starts_again_and_old_failures_do_not_count(
    database: Database,
) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        assert not await of.machinery("restart_process", PROCESS, root_id), "it is still open"
        await of.report(await of.attempt(root_id), "21211 no such number", retriable=False)
        assert await of.outcome(root_id) == "not_retriable"
        assert await of.root(root_id) is None
        assert not await of.machinery("restart_process", PROCESS, root_id + 1)
        assert not await of.machinery("restart_process", "comms.nothing", root_id)
        assert await of.machinery("restart_process", PROCESS, root_id)
        assert not await of.machinery("restart_process", PROCESS, root_id)
        await of.report(await of.attempt(root_id), "busy")
        assert await of.outcome(root_id) == "backing_off", "one failure, not two, and none for good"
        await of.calls.clock.advance(seconds=5)
        await of.report(await of.attempt(root_id))
        assert await of.outcome(root_id) == "done"
        assert not await of.machinery("restart_process", PROCESS, root_id), "it succeeded"


async def test_it_backs_off_four_times_as_long_each_time_and_is_stuck_after_five(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        for seconds in (5, 20, 80, 320, None):
            await of.report(await of.attempt(root_id), "busy")
            if seconds is None:
                break
            assert await of.outcome(root_id) == "backing_off"
            root = await of.open_root(root_id)
            assert root["next_check_at"] == of.calls.clock.now + timedelta(seconds=seconds)
            await of.calls.clock.advance(seconds=seconds)
        assert await of.outcome(root_id) == "max_attempts_reached"
        assert await of.root(root_id) is None


async def test_an_attempt_whose_task_ended_silently_is_a_failure(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        attempt_id = await of.attempt(root_id)
        task_id = await of.calls.admin.fetchval(
            "select task_id from comms.send_sms_attempt where send_sms_attempt_id = $1", attempt_id
        )
        await of.calls.clock.advance(minutes=10)
        assert await of.outcome(root_id) == "waiting", "its task is still to run"
        await of.calls.admin.execute("delete from queues.ready where task_id = $1", task_id)
        assert await of.outcome(root_id) == "backing_off"
        assert await of.calls.admin.fetchval(
            "select error_message from comms.send_sms_attempt_failed where send_sms_attempt_id = $1",
            attempt_id,
        ) == "its task ended without an outcome"  # fmt: skip


async def test_a_wait_grows_by_its_factor_and_never_beyond_the_longest(database: Database) -> None:
    waits = "select internal.exponential('5 seconds', $1, '1 hour', n) from generate_series(0, 2000, 500) n"
    async with database.connect("admin") as admin:
        email = "select comms.send_email_backoff(n) from generate_series(1, 7) n"
        seconds = [row[0].total_seconds() for row in await admin.fetch(email)]
        assert seconds == [5, 20, 80, 320, 1280, 3600, 3600]
        for factor in (1, 4, 1000):
            longest = max(row[0] for row in await admin.fetch(waits, factor))
            assert longest <= timedelta(hours=1)
