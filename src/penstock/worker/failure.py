"""Turns a handler's exception into what the queue stores about it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.db.storable import storable_text
from penstock.model import Failure, LeaseId
from penstock.queue.task_type import payload_invalid

if TYPE_CHECKING:
    from pydantic import ValidationError

LONGEST_MESSAGE = 2_000
LAST_FRAMES = 12
LONGEST_DELAY = 10 * 366 * 86_400.0


def describe(lease_id: LeaseId, error: BaseException, known_codes: Collection[str]) -> Failure:
    """The error code is the nearest base class with a retry policy, else the error's own class.

    An exception may say more: `error_code` names it, `retriable = False` makes it final, `retry_after`
    (seconds) replaces the policy's delay.
    """
    code = _asked(error, "error_code") or next(
        (cls.__name__ for cls in type(error).__mro__ if cls.__name__ in known_codes), type(error).__name__
    )
    return Failure(
        lease_id=lease_id,
        code=_text(code)[:200],
        message=_text(error),
        details=json.dumps(
            {
                "class": storable_text(f"{type(error).__module__}.{type(error).__qualname__}"),
                "frames": [
                    storable_text(f"{frame.filename}:{frame.lineno} in {frame.name}")
                    for frame in traceback.extract_tb(error.__traceback__, limit=-LAST_FRAMES)
                ],
            }
        ),
        retry_after=delay_from(_asked(error, "retry_after")),
        final=_asked(error, "retriable") is False,
    )


def delay_from(seconds: object) -> float | None:
    """A delay the database can add to a timestamp, or None: any other would fail the whole group."""
    if isinstance(seconds, timedelta):
        seconds = seconds.total_seconds()
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds != seconds:
        return None
    return float(min(max(seconds, 0), LONGEST_DELAY))


def describe_payload(lease_id: LeaseId, task_type: str, error: ValidationError) -> Failure:
    """An invalid payload is a final failure."""
    invalid = payload_invalid(task_type, error)
    return Failure(lease_id, "PayloadInvalid", str(invalid), "{}", final=True)


def _asked(error: BaseException, name: str) -> object:
    """An attribute of a foreign exception; reading it may raise too."""
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001  # the class's own code
        return None


def _text(value: object) -> str:
    try:
        return storable_text(str(value)[:LONGEST_MESSAGE])
    except Exception:  # noqa: BLE001  # the same
        return f"[unprintable {type(value).__name__}]"
