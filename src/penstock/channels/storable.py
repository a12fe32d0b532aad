"""Makes texts of the outside such as Postgres can keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.errors import PenstockError

LONGEST_ERROR: Final = 2_000


def storable(value: Any) -> Any:
    """The same JSON value without NUL and lone surrogates, which jsonb refuses."""
    match value:
        case str():
            return storable_text(value)
        case Mapping():
            return {storable_text(str(name)): storable(inner) for name, inner in value.items()}
        case list() | tuple():
            return [storable(inner) for inner in value]
        case _:
            return value


def storable_text(text: str) -> str:
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def error_text(error: BaseException) -> str:
    """What an error says, cut to what an error fact needs; its class where it says nothing of itself."""
    said = str(error)
    if not isinstance(error, PenstockError):
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return storable_text(said)[:LONGEST_ERROR]
