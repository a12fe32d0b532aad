"""What an inlet is: somebody else's queue, from which messages become tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias, runtime_checkable

Receipt: TypeAlias = Any
"""What the sender wants to see again when a message is acknowledged; only its own inlet reads it."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as `queues.take_in` wants it, and the sender's receipt for it."""

    key: str
    """The message's identity at the sender, the same at every redelivery."""
    payload: str
    """The text of a JSON object; the database refuses any other text."""
    receipt: Receipt
    task_type: str | None = None
    """None is the inlet's own."""
    received: int = 1
    """How often the sender has delivered it."""
    sent_at: datetime | None = None
    tenant: str | None = None
    """A slug; None is the inlet's tenant, if it has one."""
    queue: str | None = None
    priority: int | None = None
    scheduled_at: datetime | None = None
    unique_key: str | None = None
    on_duplicate: str | None = None
    limit_key: str | None = None
    max_attempts: int | None = None
    refused: str | None = None
    """Why the inlet itself cannot use it: counted and refused, without a task."""


class Inlet(Protocol):
    """A queue elsewhere. Any method may raise; the mover backs off and tries again."""

    name: str
    source: str

    async def receive(self, limit: int, wait: float) -> Sequence[Incoming]:
        """Up to `limit` messages, after up to `wait` seconds. May be cancelled while it waits."""

    async def acknowledge(self, receipts: Sequence[Receipt]) -> None:
        """They are tasks now. Failing is harmless: a redelivery is found in the ledger."""

    async def extend(self, receipts: Sequence[Receipt], seconds: float) -> None:
        """Keep them from others for this long; 0 gives them back at once."""

    async def refuse(self, receipt: Receipt, reason: str) -> None:
        """Put it into the sender's own place for dead letters, or leave it to the sender to do so."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Moved:
    """What one transaction of a local inlet did."""

    received: int
    taken: int = 0
    duplicates: int = 0
    refused: int = 0
    lag_seconds: float | None = None
    """How long the oldest message had waited."""
    backlog: int | None = None
    """How many messages wait, if the sender knows it cheaply."""


@runtime_checkable
class LocalInlet(Protocol):
    """A queue in our own database: one transaction receives, takes in and acknowledges."""

    name: str
    source: str

    async def move(self) -> Moved:
        """Move one batch; nothing received means that there is nothing now."""

    async def wait(self, seconds: float) -> None:
        """Return when there may be something to move, after `seconds` at the latest."""

    async def aclose(self) -> None: ...


AnyInlet: TypeAlias = Inlet | LocalInlet


@dataclass(frozen=True, slots=True)
class InletRow:
    """An inlet as it was added: what its factory opens it by."""

    name: str
    kind: str
    source: str
    config: Mapping[str, Any] = field(default_factory=dict)
    tenant: str | None = None
