"""Makes external texts storable in Postgres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.db.storable import storable_text
from penstock.errors import PenstockError

LONGEST_ERROR: Final = 2_000


def storable(value: Any) -> Any:
    """A JSON value without NUL and lone surrogates, which jsonb rejects."""
    match value:
        case str():
            return storable_text(value)
        case Mapping():
            return {storable_text(str(name)): storable(inner) for name, inner in value.items()}
        case list() | tuple():
            return [storable(inner) for inner in value]
        case _:
            return value


def error_text(error: BaseException) -> str:
    """An error's message, truncated for storage; with its class if it is not one of ours."""
    said = str(error)
    if not isinstance(error, PenstockError):
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return storable_text(said)[:LONGEST_ERROR]
