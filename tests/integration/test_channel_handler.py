"""One attempt: before handler, provider, then the facts and the close in one transaction, once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from penstock.processes.channels.channel import ProviderFailed
from tests.plugins.trial_process import Trial, trial_process
from tests.plugins.workers import Mill, eventually

REFUSED = {"status": "bad_address", "validation_failure_message": "no such address"}


async def error_told(trial: Trial) -> dict[str, Any]:
    """What the error handler was told, when it was told once."""
    await eventually(lambda: _told(trial), what="the error handler is told")
    [told] = await trial.facts("error")
    return told


async def _told(trial: Trial) -> bool:
    return bool(await trial.facts("error"))


def raises(error: Exception) -> Any:
    async def does() -> Mapping[str, Any]:
        raise error

    return does


async def test_the_provider_gets_what_the_before_handler_answers_and_the_facts_are_written_once(
    mill: Mill,
) -> None:
    async with trial_process(mill) as trial:
        request = {"to": "anna", "amount": 1.5}
        task = await trial.attempt(before={"answer": {"success": True, "payload": request}}, attempt_id=7)
        await trial.books.becomes(task, "completed")
        assert trial.provider.requests == [request]
        [told] = await trial.facts("success")
        assert told["original_payload"]["attempt_id"] == 7
        assert told["worker_payload"] == {"id": "p-1"}
        assert await trial.facts("error") == []
        assert await trial.books.count("queues.error") == 0
        await trial.books.assert_sound()


async def test_without_a_before_handler_the_payload_is_the_request(mill: Mill) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(before_handler=None, to="anna")
        await trial.books.becomes(task, "completed")
        assert trial.provider.requests[0]["to"] == "anna"
        assert await trial.facts("before") == []


@pytest.mark.parametrize(
    ("answer", "error", "retriable"),
    [
        (REFUSED, "trial.before: no such address", False),
        ({"success": False, "validation_failure_message": "never"}, "trial.before: never", False),
        ({"status": "too_early"}, "trial.before: it answered too_early", True),
        ({"success": False, "error": "broken"}, "trial.before: broken", True),
        (["no", "envelope"], "The answer is not a valid envelope: the answer is a list", True),
        ({"status": "succeeded", "payload": 5}, "payload is a number", True),
    ],
)
async def test_a_before_handler_that_does_not_succeed_keeps_the_provider_from_being_called(
    mill: Mill, answer: Any, error: str, retriable: bool
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(before={"answer": answer})
        await trial.books.becomes(task, "completed")
        told = await error_told(trial)
        assert error in told["error"]
        assert told["retriable"] is retriable
        expected = answer.get("validation_failure_message") if isinstance(answer, dict) else None
        assert told.get("validation_failure_message") == expected
        assert trial.provider.requests == []
        assert await trial.facts("success") == []
        assert error in await trial.books.value("select error_message from queues.error")


async def test_a_before_handler_that_raises_is_retried_by_the_queue_and_ends_with_the_error_handler(
    mill: Mill,
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(before={"raise": "no table"})
        await trial.books.becomes(task, "dead")
        assert await trial.books.outcomes(task) == ["failed", "failed", "failed"]
        told = await error_told(trial)
        assert "no table" in told["error"]
        assert trial.provider.requests == []


@pytest.mark.parametrize("name", ["trial.missing", "queues.enqueue", "drop table x", "TRIAL.before"])
async def test_a_handler_that_is_not_registered_is_never_run(mill: Mill, name: str) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(before_handler=name)
        await trial.books.becomes(task, "dead")
        assert "FunctionRefused" in await trial.books.value("select error_code from queues.error limit 1")
        assert trial.provider.requests == []


@pytest.mark.parametrize(
    ("error", "retriable", "kind"),
    [
        (ProviderFailed("email", "451 later", "Wait", retriable=True), True, "ProviderFailed"),
        (ProviderFailed("email", "550 no\x00\ud800", "Fix it", retriable=False), False, "ProviderFailed"),
        (ZeroDivisionError("secret words"), True, "ZeroDivisionError"),
    ],
    ids=["may pass", "final", "a bug"],
)
async def test_a_provider_failure_completes_the_task_and_runs_the_error_handler(
    mill: Mill, error: Exception, retriable: bool, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with trial_process(mill) as trial:
        trial.provider.does = raises(error)
        task = await trial.attempt()
        await trial.books.becomes(task, "completed")
        told = await error_told(trial)
        assert told["retriable"] is retriable
        assert told["original_payload"]["task_type"] == "email"
        assert told["error"]
        assert await trial.books.count("queues.error", f"task_id = {task}") == 1
        assert len(trial.provider.requests) == 1
        said = [record for record in caplog.records if "channel_task_failed" in record.getMessage()]
        assert len(said) == 1
        assert "secret words" not in caplog.text


async def test_a_handler_that_fails_twice_writes_its_facts_the_third_time_and_the_provider_is_called_once(
    mill: Mill,
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(success={"raise": "deadlock", "times": 2})
        await trial.books.becomes(task, "completed")
        assert len(await trial.facts("success")) == 1
        assert len(trial.provider.requests) == 1
        assert await trial.books.outcomes(task) == ["completed"]


async def test_a_connection_lost_at_the_handler_is_retried_and_the_provider_is_called_once(
    mill: Mill,
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(success={"cut": 3})
        await trial.books.becomes(task, "completed")
        assert await trial.books.outcomes(task) == ["completed"]
        assert len(await trial.facts("success")) == 1
        assert len(trial.provider.requests) == 1


@pytest.mark.parametrize("told", [{"raise": "always"}, {"answer": REFUSED}, {"answer": 5}])
async def test_a_success_handler_that_never_succeeds_does_not_complete_the_task_nor_call_the_provider_again(
    mill: Mill, told: dict[str, Any]
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(success=told)
        await trial.books.becomes(task, "dead")
        assert await trial.books.outcomes(task) == ["failed"]
        assert await trial.facts("success") == []
        assert len(trial.provider.requests) == 1
        assert "trial.success" in (await error_told(trial))["error"]
        assert await trial.books.value("select last_value from trial.success_calls") == 3


async def test_an_error_handler_that_never_succeeds_does_not_complete_the_task(mill: Mill) -> None:
    async with trial_process(mill) as trial:
        trial.provider.does = raises(ProviderFailed("email", "550 no", "Fix it", retriable=False))
        task = await trial.attempt(error={"raise": "always", "times": 3})
        await trial.books.becomes(task, "dead")
        assert "trial.error" in (await error_told(trial))["error"]
        assert len(trial.provider.requests) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"success_handler": None}, "success_handler"),
        ({"error_handler": None}, "error_handler"),
        ({"error_handler": ""}, "error_handler"),
        ({"success_handler": 5}, "success_handler"),
        ({"before_handler": ["trial.before"]}, "before_handler"),
    ],
)
async def test_a_channel_task_with_missing_handlers_is_dead_at_once(
    mill: Mill, changes: dict[str, Any], field: str
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.attempt(**changes)
        await trial.books.becomes(task, "dead")
        assert await trial.books.outcomes(task) == ["failed"]
        assert field in await trial.books.value("select error_message from queues.error")
        assert trial.provider.requests == []


async def test_a_worker_that_lost_its_lease_at_the_provider_writes_nothing(mill: Mill) -> None:
    """The provider is called twice, the facts are written once."""
    async with trial_process(mill) as trial:
        books = trial.books

        async def loses_the_first() -> Mapping[str, Any]:
            run = len(trial.provider.requests)
            if run == 1:
                async with mill.database.connect("admin") as admin:
                    await admin.execute("update queues.worker set beat_at = now() - interval '1 hour'")
                    await admin.execute("select queues.rescue()")
                    assert await admin.fetchval("select count(*) from queues.lease") == 0
            return {"run": run}

        trial.provider.does = loses_the_first
        task = await trial.attempt()
        await books.becomes(task, "completed", within=30)
        assert await books.outcomes(task) == ["lost", "completed"]
        [told] = await trial.facts("success")
        assert told["worker_payload"] == {"run": 2}
        await books.assert_sound()
