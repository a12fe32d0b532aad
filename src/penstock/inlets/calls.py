"""The SQL functions of inlets, as their movers call them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from penstock.db.reconnecting import ReconnectingConnection
from penstock.db.storable import storable_text
from penstock.errors import InletPaused, NotFound
from penstock.inlets.protocol import Incoming, InletRow

TAKE_IN = "select position, outcome, task_id, reason from queues.take_in($1, $2)"
HOLD = "select name, kind, source, config, tenant from queues.hold_inlets($1, $2, $3, $4, $5, $6)"
KIND = "select kind from queues.inlet_gauges() where inlet = $1"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a message: `taken`, `duplicate` or `refused`."""

    incoming: Incoming
    outcome: str
    task_id: int | None
    reason: str | None


class InletGone(Exception):
    """The inlet is paused or removed: nothing may be taken in."""


@contextmanager
def noticing_the_end() -> Iterator[None]:
    """Within the block, raise InletGone when the inlet is paused or removed."""
    try:
        yield
    except InletPaused as paused:
        raise InletGone(str(paused)) from paused
    except NotFound as missing:
        if missing.field != "inlet":
            raise
        raise InletGone(str(missing)) from missing


class InletCalls:
    """One connection, reopened when it was lost."""

    def __init__(self, line: ReconnectingConnection) -> None:
        self._line = line

    async def take_in(self, inlet: str, batch: Sequence[Incoming]) -> list[Outcome]:
        """Make tasks of the messages, in one transaction with the ledger; safe to repeat."""
        with noticing_the_end():
            rows = await self._line.fetch(TAKE_IN, inlet, json.dumps([message(each) for each in batch]))
        return [
            Outcome(batch[row["position"]], row["outcome"], row["task_id"], row["reason"]) for row in rows
        ]

    async def ping(self) -> None:
        await self._line.fetchval("select 1")

    async def hold(
        self,
        holder: str,
        kinds: Sequence[str],
        seconds: float,
        only: str | None = None,
        status: Mapping[str, object] | None = None,
        *,
        beside: bool = False,
    ) -> list[InletRow]:
        """Renew and take inlets; returns all that this holder has, and `beside` also what others hold."""
        rows = await self._line.fetch(
            HOLD, holder, list(kinds), seconds, only, json.dumps(dict(status or {})), beside
        )
        return [
            InletRow(row["name"], row["kind"], row["source"], json.loads(row["config"]), row["tenant"])
            for row in rows
        ]

    async def kind_of(self, name: str) -> str:
        """The kind of an inlet, whosever it is. NotFound."""
        kind = await self._line.fetchval(KIND, name)
        if kind is None:
            raise NotFound(f"there is no inlet {name!r}", "inlet", "List them: penstock inlet list")
        return str(kind)

    async def free(self, holder: str, only: str | None = None) -> None:
        await self._line.fetchval("select queues.free_inlets($1, $2)", holder, only)


def message(incoming: Incoming) -> dict[str, object]:
    """As take_in reads it. One that Postgres cannot store is refused or replaced: it fails no batch."""
    fields: dict[str, object] = {
        "key": incoming.key,
        "task_type": incoming.task_type,
        "payload": incoming.payload,
        "tenant": incoming.tenant,
        "queue": incoming.queue,
        "priority": incoming.priority,
        "scheduled_at": incoming.scheduled_at and incoming.scheduled_at.isoformat(),
        "sent_at": incoming.sent_at and incoming.sent_at.isoformat(),
        "unique_key": incoming.unique_key,
        "on_duplicate": incoming.on_duplicate,
        "limit_key": incoming.limit_key,
        "max_attempts": incoming.max_attempts,
        "refused": incoming.refused,
    }
    if incoming.payload != storable_text(incoming.payload):
        del fields["payload"]
        fields["refused"] = incoming.refused or "its payload holds characters that JSON does not allow"
    return {
        name: storable_text(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value is not None
    }
