"""Task types: what a handler must look like, and payloads that do not fit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, Field

from penstock import Context, Exponential, NoRetry, Penstock, Table
from penstock.errors import InvalidArgument, PayloadInvalid, UnknownTaskType
from penstock.queue.task_type import TaskType


class Invoice(BaseModel):
    invoice_id: int
    note: str = ""
    cents: int = Field(alias="amount")


@dataclass
class Point:
    x: int
    y: int


def app() -> Penstock:
    return Penstock(database_url="postgresql://nobody@localhost/nowhere")


def invoice_type() -> TaskType[Invoice]:
    @app().task("send")
    async def send(payload: Invoice) -> None: ...

    return send


def test_a_model_is_sent_as_json_and_its_required_keys_are_known_to_sql() -> None:
    send = invoice_type()
    [sent] = json.loads(send.encode([Invoice(invoice_id=1, amount=5)]))
    assert sent["invoice_id"] == 1
    assert send.required_keys == ["invoice_id", "amount"]
    assert send.options.queue == "default"


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"note": "x", "amount": 1}, "payload.invoice_id"),
        ({"invoice_id": "many", "amount": 1}, "payload.invoice_id"),
        (None, "payload"),
        ("text", "payload"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_with_the_field_and_never_the_value(
    payload: Any, field: str
) -> None:
    with pytest.raises(PayloadInvalid) as caught:
        invoice_type().encode([payload])
    assert caught.value.field == field
    assert caught.value.remedy
    assert "many" not in str(caught.value)


def test_of_many_payloads_the_error_names_which() -> None:
    good = Invoice(invoice_id=1, amount=1)
    bad: Any = {"invoice_id": 2}
    with pytest.raises(PayloadInvalid) as caught:
        invoice_type().encode([good, good, bad])
    assert caught.value.field == "payload.2.amount"


def test_dataclasses_and_dicts_are_payloads_too() -> None:
    @app().task()
    async def draw(payload: Point) -> None: ...

    @app().task()
    async def free(payload) -> None: ...  # type: ignore[no-untyped-def]  # a handler without an annotation

    assert json.loads(draw.encode([Point(1, 2)])) == [{"x": 1, "y": 2}]
    assert json.loads(free.encode([{"any": ["thing"]}])) == [{"any": ["thing"]}]


def test_a_handler_takes_a_payload_and_maybe_a_context() -> None:
    @app().task()
    async def with_context(payload: Point, ctx: Context) -> None: ...

    assert with_context.wants_context
    for senseless in (lambda: None, lambda a, b, c: None):
        with pytest.raises(InvalidArgument) as caught:
            app().task("senseless")(senseless)  # type: ignore[arg-type]  # that is the point
        assert caught.value.field == "handler"


def test_a_name_is_declared_once() -> None:
    shop = app()
    shop.task("one")(lambda payload: None)
    with pytest.raises(InvalidArgument, match="two task types 'one'"):
        shop.task("one")(lambda payload: None)


def test_a_schedule_needs_a_declared_type_and_a_name_of_its_own() -> None:
    shop = app()
    send: TaskType[Any] = shop.task("send")(lambda payload: None)
    shop.schedule("@daily", send, {})
    with pytest.raises(InvalidArgument, match="two schedules 'send'"):
        shop.schedule("@hourly", send, {})
    with pytest.raises(UnknownTaskType):
        app().schedule("@daily", send, {})


def test_policies_are_written_down_as_the_database_reads_them() -> None:
    @app().task(
        retry=Table((0, 30, 300)), retry_errors={ValueError: NoRetry(), "Busy": Exponential(attempts=9)}
    )
    async def send(payload: Point) -> None: ...

    policies = json.loads(send.options.policies())
    assert policies["default"] == {"kind": "table", "delays": [0, 30, 300]}
    assert policies["errors"]["ValueError"] == {"kind": "none"}
    assert policies["errors"]["Busy"]["attempts"] == 9


@pytest.mark.parametrize(
    "senseless", [lambda: Table(()), lambda: Table((0, -1)), lambda: Exponential(factor=0.5)]
)
def test_an_invalid_policy_is_refused(senseless: Any) -> None:
    with pytest.raises(ValueError, match=r"delay|factor"):
        senseless()
