"""Pydantic's errors become ours in one place, with the field's name and without its value."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from penstock.errors.invalid_field import first_invalid, invalid_argument, reworded


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("it must be even")
    return number


class Inner(BaseModel):
    size: Annotated[int, Field(ge=3)] = 4
    pair: Annotated[int, AfterValidator(_even)] = 2


class Outer(BaseModel):
    inner: Inner


def refused(value: object) -> ValidationError:
    with pytest.raises(ValidationError) as error:
        Outer.model_validate(value)
    return error.value


def test_the_error_names_the_field_and_not_its_value() -> None:
    error = invalid_argument(refused({"inner": {"size": -271828}}), "options")
    assert (error.field, error.message) == (
        "inner.size",
        "inner.size: it must be greater than or equal to 3",
    )
    assert "271828" not in str(error)


def test_a_value_of_a_field_is_named_below_the_field() -> None:
    wrong = refused({"inner": {"pair": 3}})
    assert invalid_argument(wrong, "config", inside="config").message == "config.inner.pair: it must be even"


def test_a_value_that_is_wrong_as_a_whole_has_the_callers_name() -> None:
    wrong = refused("text")
    assert first_invalid(wrong).named("payload") == "payload"
    assert invalid_argument(wrong, "config", inside="config").field == "config"


@pytest.mark.parametrize(
    ("message", "ours"),
    [
        ("String should have at most 5 characters", "it must have at most 5 characters"),
        ("Value error, it must be even", "it must be even"),
        ("Field required", "Field required"),
    ],
)
def test_messages_are_in_our_words(message: str, ours: str) -> None:
    assert reworded(message) == ours
