"""Wrong input from Python: a clear error that names the field and the remedy, and nothing is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from penstock import Penstock
from penstock.errors import (
    InvalidArgument,
    PayloadInvalid,
    PayloadTooLarge,
    Refused,
    UnknownQueue,
    UnknownTaskType,
    UnsafeRole,
)
from penstock.queue.task_type import TaskType
from tests.plugins.workers import Mill

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Note(BaseModel):
    text: str


Try = Callable[[TaskType[Any]], Awaitable[object]]


@pytest.mark.parametrize(
    ("attempt", "error", "field"),
    [
        (lambda note: note.enqueue({"txet": "x"}), PayloadInvalid, "payload.text"),
        (lambda note: note.enqueue(Note(text="x" * 1_100_000)), PayloadTooLarge, "payload"),
        (lambda note: note.enqueue(Note(text="x"), queue="nowhere"), UnknownQueue, "queue"),
        (lambda note: note.enqueue(Note(text="x"), priority=10), InvalidArgument, "priority"),
        (lambda note: note.enqueue(Note(text="x"), delay=-1), InvalidArgument, "delay"),
        (lambda note: note.enqueue(Note(text="x"), delay=1, at=NOW), InvalidArgument, "delay"),
        (
            lambda note: note.enqueue(Note(text="x"), unique_key="k", on_duplicate="drop"),
            InvalidArgument,
            "on_duplicate",
        ),
        (
            lambda note: note.enqueue_many([Note(text="x")], unique_keys=["a", "b"]),
            InvalidArgument,
            "unique_keys",
        ),
        (lambda note: note.enqueue_many([Note(text="fits"), {"txet": 1}]), PayloadInvalid, "payload.1.text"),
    ],
)
async def test_wrong_input_names_the_field_and_the_remedy_and_writes_nothing(
    mill: Mill, attempt: Try, error: type[Refused], field: str
) -> None:
    app = mill.app()

    @app.task()
    async def note(payload: Note) -> None: ...

    async with mill.open(app) as books:
        with pytest.raises(error) as caught:
            await attempt(note)
        assert caught.value.field == field
        assert caught.value.remedy
        assert caught.value.remedy in str(caught.value)
        assert await books.count("queues.task") == 0


async def test_a_type_the_database_does_not_know_is_refused(mill: Mill) -> None:
    app, other = mill.app(), mill.app()
    async with mill.open(app) as books:
        late: TaskType[Any] = other.task("late")(lambda payload: None)
        async with app.transaction() as connection:
            with pytest.raises(UnknownTaskType) as caught:
                await late.enqueue({}, conn=connection)
        assert caught.value.field == "task_type"
        assert await books.count("queues.task") == 0


async def test_an_app_that_is_not_open_says_how_to_open_it(mill: Mill) -> None:
    app = mill.app()
    note: TaskType[Any] = app.task("note")(lambda payload: None)
    with pytest.raises(InvalidArgument, match="async with app"):
        await note.enqueue({})


async def test_a_superuser_or_owner_is_refused_as_runtime_login(mill: Mill) -> None:
    app = Penstock(database_url=mill.database.admin_url)
    with pytest.raises(UnsafeRole) as caught:
        await app.open()
    assert caught.value.remedy
