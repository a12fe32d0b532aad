"""What becomes of a task whose handler fails, and that the worker goes on whatever was raised."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, model_validator

from penstock import Context, Exponential, NoRetry, Snooze, Table
from penstock.db import Record
from penstock.queue.task_type import TaskType
from tests.plugins.workers import Books, Mill, eventually, working

AT_ONCE = Table((0, 0, 0))


class DocumentInvalid(ValueError):
    pass


class PageMissing(DocumentInvalid):
    pass


class SlowDown(Exception):
    retry_after = 0.3


class Named(Exception):
    error_code = "quota_exceeded"


class Hopeless(Exception):
    retriable = False


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this works")

    @property
    def error_code(self) -> str:
        raise RuntimeError("nor this")


class Trap(BaseModel):
    armed: ClassVar[bool] = False
    shape: str = ""

    @model_validator(mode="before")
    @classmethod
    def _look(cls, value: dict[str, str]) -> dict[str, str]:
        if cls.armed and value.get("shape") == "trap":
            raise KeyError("a validator's own bug")
        return value


@dataclass
class Later(Exception):
    retry_after: Any


async def letter(books: Books, task: int) -> Record:
    row = await books.admin.fetchrow("select * from queues.dead_letter where task_id = $1", task)
    assert row is not None
    return row


async def test_a_task_is_retried_by_its_table_until_it_works(mill: Mill) -> None:
    app = mill.app()
    attempts: list[int] = []

    @app.task(retry=AT_ONCE)
    async def flaky(payload: dict[str, int], ctx: Context) -> None:
        attempts.append(ctx.attempt)
        if ctx.attempt < 3:
            raise ConnectionError("not yet")

    async with mill.open(app) as books, working(app):
        task = await flaky.enqueue({})
        await books.becomes(task, "completed")
        assert attempts == [1, 2, 3]
        assert await books.outcomes(task) == ["failed", "failed", "completed"]


async def test_a_task_out_of_attempts_is_a_dead_letter_with_all_its_errors(mill: Mill) -> None:
    app = mill.app()

    @app.task(retry=AT_ONCE)
    async def broken(payload: dict[str, int], ctx: Context) -> None:
        raise ConnectionError(f"run {ctx.attempt}")

    async with mill.open(app) as books, working(app):
        task = await broken.enqueue({"n": 7})
        await books.becomes(task, "dead")
        row = await letter(books, task)
        assert (row["reason"], row["attempts"], row["losses"]) == ("exhausted", 3, 0)
        assert (row["error_code"], row["error_message"]) == ("ConnectionError", "run 3")
        assert row["payload"] == '{"n": 7}'
        for n in (1, 2, 3):
            assert f"run {n}" in row["errors"]


async def test_max_attempts_bounds_an_exponential_policy(mill: Mill) -> None:
    app = mill.app()

    @app.task(retry=Exponential(base=0.01, factor=1), max_attempts=4)
    async def broken(payload: dict[str, int]) -> None:
        raise OSError

    async with mill.open(app) as books, working(app):
        task = await broken.enqueue({})
        await books.becomes(task, "dead")
        assert await books.outcomes(task) == ["failed"] * 4


@pytest.mark.parametrize("error", [DocumentInvalid, PageMissing])
async def test_an_error_class_may_have_a_policy_of_its_own_and_its_subclasses_follow(
    mill: Mill, error: type[Exception]
) -> None:
    app = mill.app()

    @app.task(retry=AT_ONCE, retry_errors={DocumentInvalid: NoRetry()})
    async def parse(payload: dict[str, int]) -> None:
        raise error("no pages")

    async with mill.open(app) as books, working(app):
        task = await parse.enqueue({})
        await books.becomes(task, "dead")
        row = await letter(books, task)
        assert (row["reason"], row["attempts"], row["error_code"]) == ("not_retriable", 1, "DocumentInvalid")
        details = await books.value("select details ->> 'class' from queues.error where task_id = $1", task)
        assert details.endswith(error.__name__)


async def test_an_error_may_say_that_a_retry_does_not_help(mill: Mill) -> None:
    app = mill.app()

    @app.task(retry=AT_ONCE)
    async def hopeless(payload: dict[str, int]) -> None:
        raise Hopeless

    async with mill.open(app) as books, working(app):
        task = await hopeless.enqueue({})
        await books.becomes(task, "dead")
        assert (await letter(books, task))["reason"] == "not_retriable"


async def test_an_error_may_name_its_code_and_when_to_come_back(mill: Mill) -> None:
    app = mill.app()
    loop = asyncio.get_running_loop()
    runs: list[float] = []

    @app.task(retry=Table((0, 60)))
    async def busy(payload: dict[str, int]) -> None:
        runs.append(loop.time())
        if len(runs) == 1:
            raise SlowDown

    @app.task(retry=NoRetry())
    async def named(payload: dict[str, int]) -> None:
        raise Named

    async with mill.open(app) as books, working(app):
        await books.becomes(await busy.enqueue({}), "completed", within=10)
        assert runs[1] - runs[0] >= 0.3
        task = await named.enqueue({})
        await books.becomes(task, "dead")
        assert (await letter(books, task))["error_code"] == "quota_exceeded"


async def test_a_run_past_its_time_limit_is_stopped_and_charged(mill: Mill) -> None:
    app = mill.app()
    stopped: list[bool] = []

    @app.task(retry=NoRetry(), time_limit=0.1)
    async def endless(payload: dict[str, int]) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(True)
            raise

    @app.task(retry=NoRetry(), time_limit=timedelta(seconds=30))
    async def own_timeout(payload: dict[str, int]) -> None:
        raise TimeoutError("the mail server")

    async with mill.open(app) as books, working(app):
        task, other = await endless.enqueue({}), await own_timeout.enqueue({})
        await books.becomes(task, "dead", within=20)
        assert stopped == [True]
        assert (await letter(books, task))["error_code"] == "TimeLimitExceeded"
        await books.becomes(other, "dead")
        assert (await letter(books, other))["error_code"] == "TimeoutError"


async def dies_and_the_worker_goes_on(books: Books, nasty: TaskType[Any], good: TaskType[Any]) -> Record:
    """Twice, on one slot: had the first run cost the slot, the second would never start."""
    call = """select queues.enqueue($1, '{"shape": "trap"}')"""
    first, second = [await books.value(call, nasty.name) for _ in range(2)]
    await books.becomes(first, "dead")
    await books.becomes(second, "dead")
    await books.becomes(await good.enqueue({}), "completed")
    await books.assert_sound()
    return await letter(books, second)


def _cancelled_inside() -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    return future


@pytest.mark.parametrize(
    ("nasty", "code"),
    [
        ("mute", "Mute"),
        ("exit", "SystemExit"),
        ("cancelled", "CancelledError"),
        ("validator", "KeyError"),
        ("nul", "ValueError"),
        ("surrogate", "ValueError"),
        ("huge", "ValueError"),
        ("group", "ExceptionGroup"),
        ("recursion", "RecursionError"),
    ],
)
async def test_no_error_of_a_handler_harms_the_worker(
    mill: Mill, monkeypatch: pytest.MonkeyPatch, nasty: str, code: str
) -> None:
    app = mill.app()
    monkeypatch.setattr(Trap, "armed", nasty == "validator")

    def deeper(n: int) -> int:
        return deeper(n + 1) + 1

    @app.task(retry=NoRetry())
    async def raises(payload: Trap) -> None:
        match nasty:
            case "validator":
                raise AssertionError("it must not run")
            case "mute":
                raise Mute
            case "exit":
                raise SystemExit(3)
            case "cancelled":
                await _cancelled_inside()
            case "nul":
                raise ValueError("a\x00b")
            case "surrogate":
                raise ValueError("a\ud800b")
            case "huge":
                raise ValueError("x" * 10_000_000)
            case "group":
                raise ExceptionGroup("both", [ValueError("a"), OSError("b")])
            case "recursion":
                deeper(0)

    @app.task()
    async def good(payload: dict[str, int]) -> None:
        pass

    async with mill.open(app) as books, working(app, concurrency=1):
        row = await dies_and_the_worker_goes_on(books, raises, good)
        assert row["error_code"] == code
        assert len(row["error_message"]) <= 2_000


@pytest.mark.parametrize("wait", [math.nan, math.inf, -math.inf, -5.0, 1e300, 10**400, True])
async def test_an_invalid_retry_after_does_not_block_the_closes_of_other_tasks(
    mill: Mill, wait: float
) -> None:
    app = mill.app()

    @app.task(retry=AT_ONCE)
    async def nonsense(payload: dict[str, int], ctx: Context) -> None:
        if ctx.attempt == 1:
            raise Later(wait)

    @app.task(retry=NoRetry())
    async def other(payload: dict[str, int]) -> None:
        raise OSError

    async with mill.open(app) as books, working(app):
        task, failing = await nonsense.enqueue({}), await other.enqueue({})
        await books.becomes(failing, "dead")

        async def settled() -> bool:
            return await books.state(task) in ("waiting", "completed")

        await eventually(settled)


@pytest.mark.parametrize("wait", [math.nan, math.inf, -1.0, 1e300])
async def test_an_invalid_snooze_does_not_block_the_closes_of_other_tasks(mill: Mill, wait: float) -> None:
    app = mill.app()

    @app.task(retry=NoRetry())
    async def nonsense(payload: dict[str, int]) -> Snooze:
        return Snooze(wait)

    @app.task()
    async def sensible(payload: dict[str, int], ctx: Context) -> Snooze | None:
        runs.append(ctx.attempt)
        return Snooze(0) if len(runs) == 1 else None

    runs: list[int] = []
    async with mill.open(app) as books, working(app):
        task, other = await nonsense.enqueue({}), await sensible.enqueue({})
        await books.becomes(other, "completed")

        async def settled() -> bool:
            return await books.state(task) in (
                "waiting",
                "dead",
                "completed",
            ) or "snoozed" in await books.outcomes(task)

        await eventually(settled)
