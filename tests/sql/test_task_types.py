"""Task types: what may be declared, and what is refused before it could do harm."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import calls, rows


@pytest.mark.parametrize(
    "retry",
    [
        {"default": {"kind": "sometimes"}},
        {"errors": {}},
        {"default": {"kind": "table"}},
        {"default": {"kind": "table", "delays": ["soon"]}},
        {"default": {"kind": "table", "delays": [0, -1]}},
        {"default": {"kind": "exponential", "factor": 2}},
        {"default": {"kind": "exponential", "base": "x", "factor": 2}},
        {"default": {"kind": "exponential", "base": 1, "factor": 2, "jitter": "much"}},
        {"default": {"kind": "none"}, "errors": {"Busy": {"kind": "never"}}},
        {"default": {"kind": "none"}, "errors": [1]},
    ],
)
async def test_a_policy_that_could_not_be_applied_is_refused(
    database: Database, retry: dict[str, object]
) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await queue.put_type("other", retry=retry)
        assert (caught.value.sqlstate, caught.value.detail) == ("PS005", "retry")
        assert caught.value.hint


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("task_type", {"task_type": "no name"}),
        ("priority", {"priority": 10}),
        ("max_attempts", {"max_attempts": 0}),
        ("max_losses", {"max_losses": 0}),
        ("time_limit", {"time_limit": timedelta(0)}),
        ("on_duplicate", {"on_duplicate": "never"}),
        ("queue", {"queue": "No Name"}),
    ],
)
async def test_a_type_with_a_bad_option_is_refused(
    database: Database, field: str, options: dict[str, object]
) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await rows(queue.runtime, "put_task_type", **{"task_type": "other", **options})
        assert (caught.value.sqlstate, caught.value.detail) == ("PS005", field)
        assert await queue.count("task_type", "task_type = 'other'") == 0


async def test_a_type_declared_twice_is_declared_once(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(priority=3)
        declared = "select declared_at, xmin::text from queues.task_type where task_type = 'job'"
        before = await queue.admin.fetchrow(declared)
        await queue.clock.advance(minutes=1)
        await queue.put_type(priority=3)
        assert await queue.admin.fetchrow(declared) == before
