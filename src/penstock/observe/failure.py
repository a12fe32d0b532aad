"""Turns an exception into a code, a one-line message and, for debugging, a traceback."""

import traceback
from collections.abc import Iterator

from penstock.observe.redaction import scrub

_FRAMES_KEPT = 12
_CHAIN_KEPT = 4


def describe(name: str, error: BaseException, *, with_traceback: bool) -> dict[str, object]:
    """Fields `<name>_code`, `<name>_message` and, when asked for, `<name>_traceback`."""
    fields: dict[str, object] = {f"{name}_code": type(error).__name__, f"{name}_message": message(error)}
    if with_traceback:
        fields[f"{name}_traceback"] = list(_places(error))
    return fields


def message(error: BaseException) -> str:
    """First line only: what follows in a database error (`DETAIL: Key (email)=…`) is a tenant's data."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001 - an exception's own text may raise anything
        return f"[unprintable {type(error).__name__}]"
    first = scrub(lines[0]) if lines else ""
    if isinstance(error, BaseExceptionGroup):
        inner = _first_leaf(error)
        return scrub(f"{first}: {type(inner).__name__}: {message(inner)}")
    return first


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _places(error: BaseException) -> Iterator[str]:
    # No source lines or full messages: a traceback must not reveal more than the message.
    current: BaseException | None = error
    for depth in range(_CHAIN_KEPT):
        if current is None:
            return
        if depth:
            yield f"caused by {type(current).__name__}: {message(current)}"
        for frame in traceback.extract_tb(current.__traceback__)[-_FRAMES_KEPT:]:
            yield f"{frame.filename}:{frame.lineno} in {frame.name}"
        if isinstance(current, BaseExceptionGroup):
            current = _first_leaf(current)
        else:
            hidden = current.__suppress_context__
            current = current.__cause__ or (None if hidden else current.__context__)
