"""A channel task's payload: its tenant and the names of its handlers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import PenstockError
from penstock.model import TenantId
from penstock.queue.task_run import TaskRun


class ChannelTaskInvalid(PenstockError):
    """A channel task can never run because `field` is missing or invalid."""

    retriable = False

    def __init__(self, message: str, field: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.field = field
        self.args = (message, field, remedy)


@dataclass(frozen=True, slots=True)
class ChannelTask:
    """The tenant whose transactions the handlers run in, and the payload they get."""

    tenant_id: TenantId
    payload: Mapping[str, Any]

    @classmethod
    def read(cls, payload: Mapping[str, Any], run: TaskRun) -> ChannelTask:
        if run.tenant_id is None:
            raise ChannelTaskInvalid(
                "the task has no tenant", "tenant_id", "Enqueue it in a transaction of its tenant"
            )
        return cls(TenantId(run.tenant_id), payload)

    def named(self, key: str) -> str:
        """The function named by a key of the payload."""
        name = self.named_if_any(key)
        if name is None:
            raise ChannelTaskInvalid(f"the payload has no {key}", key, f"Set {key} to a registered function")
        return name

    def named_if_any(self, key: str) -> str | None:
        name = self.payload.get(key)
        if name is None or (isinstance(name, str) and name):
            return name
        raise ChannelTaskInvalid(f"{key} must be a function name", key, f"Set {key} to a registered function")
