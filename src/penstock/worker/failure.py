"""Turns an exception of a handler into what the queue keeps of it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Collection
from typing import TYPE_CHECKING

from penstock.model import Failure, LeaseId
from penstock.queue.task_type import payload_invalid

if TYPE_CHECKING:
    from pydantic import ValidationError

LONGEST_MESSAGE = 2_000
LAST_FRAMES = 12


def describe(lease_id: LeaseId, error: BaseException, known_codes: Collection[str]) -> Failure:
    """The nearest class of the error that has a retry policy is its code, else its own class.

    An exception may say more: `error_code` names it, `retriable = False` makes it final, `retry_after`
    (seconds) replaces the policy's delay.
    """
    code = getattr(error, "error_code", None) or next(
        (cls.__name__ for cls in type(error).__mro__ if cls.__name__ in known_codes), type(error).__name__
    )
    retry_after = getattr(error, "retry_after", None)
    return Failure(
        lease_id=lease_id,
        code=_storable(str(code))[:200],
        message=_storable(str(error))[:LONGEST_MESSAGE],
        details=json.dumps(
            {
                "class": f"{type(error).__module__}.{type(error).__qualname__}",
                "frames": [
                    f"{frame.filename}:{frame.lineno} in {frame.name}"
                    for frame in traceback.extract_tb(error.__traceback__)[-LAST_FRAMES:]
                ],
            }
        ),
        retry_after=float(retry_after) if isinstance(retry_after, int | float) else None,
        final=getattr(error, "retriable", True) is False,
    )


def describe_payload(lease_id: LeaseId, task_type: str, error: ValidationError) -> Failure:
    """A payload that does not fit will not fit the next time."""
    invalid = payload_invalid(task_type, error)
    return Failure(lease_id, "PayloadInvalid", str(invalid), "{}", final=True)


def _storable(text: str) -> str:
    """Postgres keeps neither NUL nor lone surrogates."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
