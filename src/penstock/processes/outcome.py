"""The outcome of an attempt, as passed to its handlers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.db.storable import storable_text
from penstock.processes.envelope import Envelope
from penstock.processes.storable import LONGEST_ERROR, error_text


@dataclass(frozen=True, slots=True)
class AttemptSucceeded:
    worker_payload: Mapping[str, Any]

    def told(self, original: Mapping[str, Any]) -> dict[str, Any]:
        """What the success handler gets."""
        return {"original_payload": original, "worker_payload": self.worker_payload}


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    error: str
    retriable: bool
    kind: str
    """The class of the error, for the logs: the text may contain user content."""
    validation_failure_message: str | None = None

    @classmethod
    def by_error(cls, error: Exception) -> AttemptFailed:
        """An error may say that it is final; otherwise it counts as retriable."""
        retriable = getattr(error, "retriable", True) is not False
        return cls(error_text(error), retriable, type(error).__name__)

    @classmethod
    def by_answer(cls, function: str, envelope: Envelope) -> AttemptFailed:
        """A function that did not succeed; a validation failure is final."""
        invalid = envelope.validation_failure_message
        error = storable_text(f"{function}: {envelope.reason}")[:LONGEST_ERROR]
        return cls(error, invalid is None, "NotSucceeded", invalid)

    def told(self, original: Mapping[str, Any]) -> dict[str, Any]:
        """What the error handler gets."""
        told = {"original_payload": original, "error": self.error, "retriable": self.retriable}
        if self.validation_failure_message is not None:
            told["validation_failure_message"] = self.validation_failure_message
        return told


Outcome: TypeAlias = AttemptSucceeded | AttemptFailed
