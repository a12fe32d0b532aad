"""Refuses JSON that Postgres could not store: NULs, half characters, endless numbers, bottomless nesting."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Final, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from penstock.errors import InvalidArgument

METADATA_BYTES: Final = 65_536
_DEPTH: Final = 32

Model = TypeVar("Model", bound=BaseModel)


def storable(value: object, depth: int = 0) -> object:
    """The value itself, or ValueError saying what in it cannot be kept."""
    if depth > _DEPTH:
        raise ValueError(f"it is nested more than {_DEPTH} deep")
    match value:
        case str():
            if "\0" in value:
                raise ValueError("it holds a NUL character (\\u0000)")
            if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
                raise ValueError("it holds half a surrogate pair")
        case float():
            if not math.isfinite(value):
                raise ValueError("it holds a number that is not finite")
        case int():
            if abs(value).bit_length() > 256:
                raise ValueError("it holds a number of more than 77 digits")
        case dict():
            for key, inner in value.items():
                storable(key, depth + 1)
                storable(inner, depth + 1)
        case list():
            for inner in value:
                storable(inner, depth + 1)
    return value


def _within_limit(value: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(value, ensure_ascii=False).encode()) > METADATA_BYTES:
        raise ValueError(f"it is over {METADATA_BYTES} bytes")
    return value


Metadata = Annotated[dict[str, Any], BeforeValidator(storable), AfterValidator(_within_limit)]
"""A JSON object of the caller's own."""

Text = Annotated[str, BeforeValidator(storable)]


class Body(BaseModel):
    """What a request's JSON body derives from: nothing unknown, nothing that cannot be stored."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def parse_object(text: str | None, field: str) -> dict[str, Any] | None:
    """A JSON object out of a form's field, within the limits of metadata."""
    if text is None or not text.strip():
        return None
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if not isinstance(value, dict):
            raise ValueError(f"it is {_kind(value)}, not an object")
        storable(value)
        return _within_limit(value)
    except (ValueError, RecursionError) as wrong:
        reason = "it is nested too deep" if isinstance(wrong, RecursionError) else str(wrong)
        raise InvalidArgument(
            f"{field} is wrong: {reason}", field, 'Send a JSON object such as {"key": "value"}'
        ) from None


def parse_model(model: type[Model], text: str | None, field: str) -> Model | None:
    """A model out of a form's JSON field; its faults are named below the field."""
    value = parse_object(text, field)
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join((field, *(str(part) for part in first["loc"])))
        raise InvalidArgument(f"{place}: {first['msg']}", place, f"Correct {place}") from None


def checked_text(text: str | None, field: str, characters: int) -> str | None:
    """A form's plain field, or a query's, within its length and without what cannot be stored."""
    if text is None or not text:
        return None
    try:
        storable(text)
        if len(text) > characters:
            raise ValueError(f"it has more than {characters} characters")
    except ValueError as wrong:
        raise InvalidArgument(f"{field} is wrong: {wrong}", field, f"Correct {field}") from None
    return text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
    return "a number"
