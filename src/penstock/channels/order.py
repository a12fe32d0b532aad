"""What a channel task's payload tells the worker: its tenant and the names of its handlers, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.channels.ports import Run
from penstock.errors import PenstockError
from penstock.model import TenantId


class OrderInvalid(PenstockError):
    """A channel task cannot be run as it is, now or ever; `field` is the part of it at fault."""

    retriable = False

    def __init__(self, message: str, field: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.field = field
        self.args = (message, field, remedy)


@dataclass(frozen=True, slots=True)
class Order:
    """The tenant whose transactions the handlers run in, and the whole payload they are given."""

    tenant_id: TenantId
    payload: Mapping[str, Any]

    @classmethod
    def read(cls, payload: Mapping[str, Any], run: Run) -> Order:
        if run.tenant_id is None:
            raise OrderInvalid(
                "the task has no tenant", "tenant_id", "Enqueue it in a transaction of its tenant"
            )
        return cls(TenantId(run.tenant_id), payload)

    def named(self, key: str) -> str:
        """The function a key of the payload names."""
        name = self.named_if_any(key)
        if name is None:
            raise OrderInvalid(f"the payload names no {key}", key, f"Name a registered function as {key}")
        return name

    def named_if_any(self, key: str) -> str | None:
        name = self.payload.get(key)
        if name is None or (isinstance(name, str) and name):
            return name
        raise OrderInvalid(f"{key} is no name", key, f"Name a registered function as {key}")
