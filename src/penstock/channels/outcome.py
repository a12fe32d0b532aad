"""How an attempt ended, as its handlers are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.channels.envelope import Envelope
from penstock.channels.storable import LONGEST_ERROR, error_text, storable_text


@dataclass(frozen=True, slots=True)
class Succeeded:
    worker_payload: Mapping[str, Any]

    def told(self, original: Mapping[str, Any]) -> dict[str, Any]:
        """What the success handler gets."""
        return {"original_payload": original, "worker_payload": self.worker_payload}


@dataclass(frozen=True, slots=True)
class Failed:
    error: str
    retriable: bool
    kind: str
    """The class of the error, for the logs: the text may hold content."""
    validation_failure_message: str | None = None

    @classmethod
    def by_error(cls, error: Exception) -> Failed:
        """An error may say that no other attempt helps; any that does not may be a passing one."""
        retriable = getattr(error, "retriable", True) is not False
        return cls(error_text(error), retriable, type(error).__name__)

    @classmethod
    def by_answer(cls, function: str, envelope: Envelope) -> Failed:
        """A function that did not succeed; what does not validate will not do so the next time."""
        invalid = envelope.validation_failure_message
        error = storable_text(f"{function}: {envelope.reason}")[:LONGEST_ERROR]
        return cls(error, invalid is None, "NotSucceeded", invalid)

    def told(self, original: Mapping[str, Any]) -> dict[str, Any]:
        """What the error handler gets."""
        told = {"original_payload": original, "error": self.error, "retriable": self.retriable}
        if self.validation_failure_message is not None:
            told["validation_failure_message"] = self.validation_failure_message
        return told


Outcome: TypeAlias = Succeeded | Failed
