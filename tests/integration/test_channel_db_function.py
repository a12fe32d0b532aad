"""Functions of the database as tasks: their writes and the close are one transaction."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.plugins.trial_process import HANDLERS, trial_process
from tests.plugins.workers import Mill

REFUSED = {"status": "bad_address", "validation_failure_message": "no such address"}


@pytest.mark.parametrize("answer", [{"status": "succeeded"}, {"status": "stuck"}, {"success": False}])
async def test_any_status_completes_the_task_and_all_but_success_are_logged(
    mill: Mill, answer: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with trial_process(mill) as trial:
        task = await trial.perform(perform={"answer": answer}, some_id=3)
        await trial.books.becomes(task, "completed")
        [told] = await trial.facts("perform")
        assert told["some_id"] == 3
        assert await trial.books.count("queues.error") == 0
        said = any("db_function_status" in record.getMessage() for record in caplog.records)
        assert said == (answer != {"status": "succeeded"})


@pytest.mark.parametrize("told", [{"raise": "broken"}, {"answer": "no envelope"}])
async def test_an_error_fails_the_task_and_leaves_nothing_of_what_was_written(
    mill: Mill, told: dict[str, Any]
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.perform(perform=told)
        await trial.books.becomes(task, "dead")
        assert await trial.books.outcomes(task) == ["failed"] * 3
        assert await trial.facts("perform") == []


async def test_a_successful_attempt_runs_its_success_handler_in_the_same_transaction(mill: Mill) -> None:
    async with trial_process(mill) as trial:
        task = await trial.perform(**HANDLERS, attempt_id=9)
        await trial.books.becomes(task, "completed")
        [told] = await trial.facts("success")
        assert told["worker_payload"] == {"n": 1}
        assert told["original_payload"]["attempt_id"] == 9
        assert len(await trial.facts("perform")) == 1


@pytest.mark.parametrize(
    ("told", "error", "retriable"),
    [
        ({"answer": REFUSED}, "trial.perform: no such address", False),
        ({"answer": {"status": "later"}}, "trial.perform: it answered later", True),
        ({"answer": []}, "not a valid envelope", True),
        ({"raise": "broken"}, "told to raise: broken", True),
    ],
)
async def test_a_failed_attempt_is_rolled_back_and_its_error_handler_runs(
    mill: Mill, told: dict[str, Any], error: str, retriable: bool
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.perform(**HANDLERS, perform=told)
        await trial.books.becomes(task, "completed")
        [heard] = await trial.facts("error")
        assert error in heard["error"]
        assert heard["retriable"] is retriable
        assert await trial.facts("perform") == []
        assert await trial.facts("success") == []
        assert error in await trial.books.value("select error_message from queues.error")


async def test_a_success_handler_that_fails_undoes_the_function_and_the_queue_runs_both_again(
    mill: Mill,
) -> None:
    async with trial_process(mill) as trial:
        task = await trial.perform(**HANDLERS, success={"raise": "deadlock", "times": 2})
        await trial.books.becomes(task, "completed")
        assert await trial.books.outcomes(task) == ["failed", "failed", "completed"]
        assert len(await trial.facts("perform")) == 1
        assert len(await trial.facts("success")) == 1


@pytest.mark.parametrize("name", [None, 5, "queues.enqueue", "trial.answer"])
async def test_a_name_that_is_not_registered_is_refused(mill: Mill, name: Any) -> None:
    async with trial_process(mill) as trial:
        task = await trial.perform(db_function=name)
        await trial.books.becomes(task, "dead")
        assert await trial.facts("perform") == []


async def test_a_task_without_a_tenant_fails_for_good(mill: Mill) -> None:
    async with trial_process(mill) as trial:
        trial.tenant_id = None  # type: ignore[assignment]  # what a producer may forget
        task = await trial.perform()
        await trial.books.becomes(task, "dead")
        assert await trial.books.outcomes(task) == ["failed"]
        assert "the task has no tenant" in await trial.books.value("select error_message from queues.error")
