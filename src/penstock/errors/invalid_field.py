"""Reads pydantic's errors: which field is invalid and why, in our words and without its value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors.refused import InvalidArgument

if TYPE_CHECKING:
    from pydantic import ValidationError

_SHOULD = re.compile(r"^[A-Z][a-z]+ should (?=be|have|match|contain)")


@dataclass(frozen=True, slots=True)
class InvalidField:
    path: tuple[str | int, ...]
    """From the outermost field to the innermost; empty when the value as a whole is invalid."""
    reason: str

    def named(self, whole: str) -> str:
        """The path with dots, or `whole` if it is empty."""
        return ".".join(map(str, self.path)) or whole


def first_invalid(error: ValidationError) -> InvalidField:
    found = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return InvalidField(found["loc"], reworded(found["msg"]))


def invalid_argument(error: ValidationError, whole: str, *, inside: str = "") -> InvalidArgument:
    """Our error for pydantic's; `inside` is the field that held the value, `whole` the value's own name."""
    found = first_invalid(error)
    field = found.named(whole) if not inside else ".".join((inside, *map(str, found.path)))
    return InvalidArgument(f"{field}: {found.reason}", field, f"Correct {field}")


def reworded(message: str) -> str:
    """A message of pydantic as we would write it: "Input should be …" becomes "it must be …"."""
    return _SHOULD.sub("it must ", message.removeprefix("Value error, "))
