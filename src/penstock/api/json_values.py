"""Rejects JSON that Postgres cannot store: NULs, lone surrogates, infinite numbers, deep nesting."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Final, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from penstock.errors import InvalidArgument
from penstock.errors.invalid_field import invalid_argument

METADATA_BYTES: Final = 65_536
_DEPTH: Final = 32

Model = TypeVar("Model", bound=BaseModel)


def storable(value: object, depth: int = 0) -> object:
    """The value itself; raises ValueError with the reason if it cannot be stored."""
    if depth > _DEPTH:
        raise ValueError(f"it is nested more than {_DEPTH} levels deep")
    match value:
        case str():
            if "\0" in value:
                raise ValueError("it contains a NUL character (\\u0000)")
            if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
                raise ValueError("it contains half a surrogate pair")
        case float():
            if not math.isfinite(value):
                raise ValueError("it contains a number that is not finite")
        case int():
            if abs(value).bit_length() > 256:
                raise ValueError("it contains a number of more than 77 digits")
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
"""A JSON object defined by the caller."""

Text = Annotated[str, BeforeValidator(storable)]


class Body(BaseModel):
    """The base of all JSON request bodies: no unknown fields, nothing that cannot be stored."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def parse_object(text: str | None, field: str) -> dict[str, Any] | None:
    """A JSON object from a form field, within the limits of metadata."""
    if text is None or not text.strip():
        return None
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if not isinstance(value, dict):
            raise ValueError(f"it is {_kind(value)}, not an object")
        storable(value)
        return _within_limit(value)
    except (ValueError, RecursionError) as wrong:
        reason = "it is nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)
        raise InvalidArgument(
            f"{field} is invalid: {reason}", field, 'Send a JSON object such as {"key": "value"}'
        ) from None


def parse_model(model: type[Model], text: str | None, field: str) -> Model | None:
    """A model from a form's JSON field; errors are named below the field."""
    value = parse_object(text, field)
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError as wrong:
        raise invalid_argument(wrong, field, inside=field) from None


def checked_text(text: str | None, field: str, characters: int) -> str | None:
    """A plain field of a form or query, limited in length and without anything that cannot be stored."""
    if text is None or not text:
        return None
    try:
        storable(text)
        if len(text) > characters:
            raise ValueError(f"it has more than {characters} characters")
    except ValueError as wrong:
        raise InvalidArgument(f"{field} is invalid: {wrong}", field, f"Correct {field}") from None
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
