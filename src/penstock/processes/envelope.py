"""Parses the envelope that a business function returns, in either of its two shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.errors import PenstockError

SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"


class MalformedEnvelope(PenstockError):
    """A function did not return a valid envelope; `field` is the part at fault."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(
            f"The answer is not a valid envelope: {field} {reason}",
            'Answer {"status": "succeeded", "payload": {…}} or {"success": true, "payload": {…}}',
        )
        self.field = field
        self.reason = reason
        self.args = (field, reason)


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a function returned; `status` is `failed` for `success: false` in the other shape."""

    succeeded: bool
    status: str
    error: str | None = None
    validation_failure_message: str | None = None
    """Set if a retry cannot help."""
    payload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why it did not succeed, as far as it said."""
        return self.error or self.validation_failure_message or f"it answered {self.status}"


def read_envelope(answer: object) -> Envelope:
    """The envelope, or MalformedEnvelope; a contradictory answer is malformed too."""
    if not isinstance(answer, Mapping):
        raise MalformedEnvelope("the answer", f"is {_kind(answer)}, not an object")
    said = [verdict for verdict in (_by_status(answer), _by_success(answer)) if verdict is not None]
    if not said:
        raise MalformedEnvelope("status", "is missing, and so is success")
    if len(set(said)) > 1:
        raise MalformedEnvelope("status", f"is {answer['status']!r} while success is {answer['success']!r}")
    succeeded = said[0]
    error = _text(answer, "error")
    validation = _text(answer, "validation_failure_message")
    if succeeded and (error or validation):
        raise MalformedEnvelope("error" if error else "validation_failure_message", "is set on a success")
    payload = answer.get("payload")
    if payload is not None and not isinstance(payload, Mapping):
        raise MalformedEnvelope("payload", f"is {_kind(payload)}, not an object")
    status = answer.get("status")
    return Envelope(
        succeeded=succeeded,
        status=status if isinstance(status, str) else SUCCEEDED if succeeded else FAILED,
        error=error,
        validation_failure_message=validation,
        payload=payload or {},
    )


def _by_status(answer: Mapping[Any, Any]) -> bool | None:
    status = answer.get("status")
    if status is None:
        return None
    if not isinstance(status, str) or not status:
        raise MalformedEnvelope("status", f"is {_kind(status)}, not a word")
    return status == SUCCEEDED


def _by_success(answer: Mapping[Any, Any]) -> bool | None:
    success = answer.get("success")
    if success is None or isinstance(success, bool):
        return success
    raise MalformedEnvelope("success", f"is {_kind(success)}, not true or false")


def _text(answer: Mapping[Any, Any], name: str) -> str | None:
    text = answer.get(name)
    if text is None or isinstance(text, str):
        return text or None
    raise MalformedEnvelope(name, f"is {_kind(text)}, not a text")


def _kind(value: object) -> str:
    """The name of a JSON value's type; the value itself may be content and is not shown."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case "":
            return "an empty text"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
