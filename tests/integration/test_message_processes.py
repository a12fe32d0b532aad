"""Emails and text messages through their supervised processes: a real worker and a provider on loopback."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from penstock.processes.messages import Sent
from tests.integration.messaging import KINDS, Facts, Kind, Messaging, messaging
from tests.plugins.database import Database
from tests.plugins.workers import eventually

pytestmark = pytest.mark.parametrize("kind", KINDS)

MALFORMED = (
    "null", "'[]'", "'7'", "'{}'", """'{"success": "yes"}'""", """'{"status": "succeeded", "payload": 7}'"""
)  # fmt: skip
FAILED_FOR_GOOD = Facts(attempts=1, failed=1, succeeded=0, retriable=(False,))
ONCE = Facts(attempts=1, failed=0, succeeded=1)
AT_SECOND_TRY = Facts(attempts=2, failed=1, succeeded=1, retriable=(True,))


async def test_a_message_is_sent_once_and_its_process_ends(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        sent = await post.send()
        await post.over()
        assert post.provider.taken == ["The sluice is open"]
        assert await post.facts(sent) == ONCE
        assert await post.state(sent) == "succeeded"
        assert await post.supervise(sent) == "done"
        assert await post.facts(sent) == ONCE


async def test_a_provider_that_fails_twice_leaves_two_failures_and_one_success(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post:
        post.provider.fail(2)
        async with post.works.working():
            sent = await post.send()
            await post.over()
        assert post.provider.taken == ["The sluice is open"]
        assert await post.facts(sent) == Facts(attempts=3, failed=2, succeeded=1, retriable=(True, True))
        errors = await post.admin.fetchval("select count(*) from queues.error")
        assert (errors, await post.state(sent)) == (2, "succeeded")


async def test_five_failures_end_a_process_as_stuck_with_nothing_pending(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post:
        post.provider.fail(6)
        async with post.works.working():
            sent = await post.send()
            await post.over()
        assert post.provider.taken == []
        assert await post.facts(sent) == Facts(attempts=5, failed=5, succeeded=0, retriable=(True,) * 5)
        assert await post.supervise(sent) == "max_attempts_reached"
        assert await post.state(sent) == "failed"
        assert await post.is_over()


async def test_a_message_the_provider_refuses_for_good_is_tried_once(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        sent = await post.send(to=post.provider.nobody)
        await post.over()
        assert await post.facts(sent) == FAILED_FOR_GOOD
        assert ("550" if kind == "email" else "21211") in await post.error(sent)
        assert await post.supervise(sent) == "not_retriable"
        assert post.provider.taken == []


async def test_a_request_that_the_before_handler_rejects_is_tried_once_and_reaches_no_provider(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    answer = """return '{"success": false, "validation_failure_message": "the mill is closed"}';"""
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        async with post.replaced(post.handler("get"), answer):
            sent = await post.send()
            await post.over()
        assert (await post.facts(sent), post.provider.taken) == (FAILED_FOR_GOOD, [])
        assert (await post.error(sent), await post.state(sent)) == ("the mill is closed", "failed")


async def test_a_malformed_envelope_of_the_before_handler_is_an_error_of_the_attempt(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        await post.back_off("1 hour")
        for answer in MALFORMED:
            async with post.replaced(post.handler("get"), f"return {answer};"):
                sent = await post.send()
                await eventually(partial(_failed_once, post, sent), what=answer)
            assert await post.facts(sent) == Facts(attempts=1, failed=1, succeeded=0, retriable=(True,))
            assert await post.state(sent) == "open"
        assert post.provider.taken == []


async def test_a_before_handler_that_raises_once_costs_no_attempt(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        await post.retry_at_once(kind, 1000)
        async with post.replaced(post.handler("get"), "raise exception 'no such wheel';"):
            sent = await post.send()
            await eventually(lambda: post.admin.fetchval("select count(*) > 0 from queues.error"))
        await post.over()
        assert (await post.facts(sent), post.provider.taken) == (ONCE, ["The sluice is open"])


async def test_a_before_handler_that_always_raises_ends_as_a_failed_attempt(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        await post.retry_at_once(kind, 2)
        async with post.replaced(post.handler("get"), "raise exception 'no such wheel';"):
            sent = await post.send()
            await eventually(lambda: _failed_once(post, sent))
            assert "no such wheel" in await post.error(sent)
            assert post.provider.taken == []
        await eventually(lambda: post.provider.taken)


async def test_a_broken_success_handler_sends_once_and_ends_as_a_dead_letter_and_a_failure(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        await post.back_off("1 hour")
        async with post.replaced(post.handler("success"), "raise exception 'no such wheel';"):
            sent = await post.send()
            await eventually(lambda: _failed_once(post, sent))
        assert post.provider.taken == ["The sluice is open"]
        assert await post.facts(sent) == Facts(attempts=1, failed=1, succeeded=0, retriable=(False,))
        assert "no such wheel" in await post.error(sent)
        letter = await post.admin.fetchrow("select task_id, error_code, reason from queues.dead_letter")
        assert letter is not None
        assert tuple(letter) == (await post.channel_task(sent), "SuccessNotRecorded", "not_retriable")


async def test_a_success_handler_that_does_not_report_success_counts_as_broken(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        await post.back_off("1 hour")
        async with post.replaced(post.handler("success"), """return '{"status": "not_today"}';"""):
            sent = await post.send()
            await eventually(lambda: _failed_once(post, sent))
        assert post.provider.taken == ["The sluice is open"]
        assert "not_today" in await post.error(sent)


async def test_a_broken_error_handler_does_not_hang_its_process(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post:
        post.provider.fail()
        async with post.works.working():
            await post.retry_at_once("db_function", 1)
            async with post.replaced(post.handler("failure"), "raise exception 'no such wheel';"):
                sent = await post.send()
                await eventually(lambda: _dead(post, 2))  # the channel's task, and then its error handler's
                assert (await post.state(sent), (await post.facts(sent)).failed) == ("open", 0)
            await post.admin.execute(
                f"update comms.send_{kind}_attempt set created_at = now() - interval '1 minute'"
            )
            assert await post.supervise(sent) in ("attempted", "backing_off")
            await post.over()
        assert await post.facts(sent) == AT_SECOND_TRY
        assert post.provider.taken == ["The sluice is open"]


async def test_a_channel_task_cancelled_before_it_ran_is_a_failure_and_is_tried_again(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, database.connect("operator") as operator:
        await operator.execute("select queues.pause($1)", kind)
        async with post.works.working():
            sent = await post.send()
            await eventually(lambda: post.channel_task(sent))
            task_id = await post.channel_task(sent)
            answer = await operator.fetchval("select queues.cancel_task($1, 'wrong day')", task_id)
            assert answer == "cancelled"
            await operator.execute("select queues.resume($1)", kind)
            await post.over()
        assert (await post.facts(sent), post.provider.taken) == (AT_SECOND_TRY, ["The sluice is open"])
        assert await post.error(sent) == "Cancelled: wrong day"


async def test_a_channel_task_cancelled_while_it_runs_is_a_failure_and_is_tried_again(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, database.connect("operator") as operator:
        post.provider.stall()
        async with post.works.working():
            sent = await post.send()
            await eventually(lambda: post.provider.stalled)
            task_id = await post.channel_task(sent)
            answer = await operator.fetchval("select queues.cancel_task($1, 'wrong day')", task_id)
            assert answer == "requested"
            await post.over()
        assert (await post.facts(sent), post.provider.taken) == (AT_SECOND_TRY, ["The sluice is open"])


async def test_a_supervisor_that_raises_leaves_its_root_open_for_the_sweep(
    kind: Kind, database: Database, tmp_path: Path
) -> None:
    async with messaging(kind, database, tmp_path) as post, post.works.working():
        await post.retry_at_once("db_function", 2)
        async with post.replaced(f"{post.process}_supervisor", "raise exception 'no such wheel';"):
            sent = await post.send()
            await eventually(lambda: _dead(post, 1))
            assert (await post.state(sent), post.provider.taken) == ("open", [])
        async with post.works.engine.tenants.all_tenants() as conn:
            assert (
                await conn.fetchval("select all_tenants.sweep_processes()") == 0
            )  # it may yet be on its way
            assert await conn.fetchval("select all_tenants.sweep_processes('0')") == 1
        await eventually(lambda: _succeeded(post, sent))
        assert (await post.facts(sent), post.provider.taken) == (ONCE, ["The sluice is open"])
        await post.over()


async def _failed_once(post: Messaging, sent: Sent) -> bool:
    return (await post.facts(sent)).failed == 1


async def _succeeded(post: Messaging, sent: Sent) -> bool:
    return (await post.facts(sent)).succeeded == 1


async def _dead(post: Messaging, letters: int) -> bool:
    return bool(await post.admin.fetchval("select count(*) from queues.dead_letter") == letters)
