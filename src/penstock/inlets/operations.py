"""The operator's calls about inlets: add, list, show, pause, resume, remove, replay."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from penstock.db import Connection
from penstock.errors import Conflict, NotFound

LIST = (
    "select name, kind, source, tenant, task_types, config, enabled,"
    " extract(epoch from retention)::float8 as retention_seconds, created_at, received, taken, duplicates,"
    " refused, last_received_at, last_taken_at, lag_seconds, backlog, holder, held_since, error"
    " from queues.inlets($1)"
)
_OF_SQS = frozenset(("sqs", "s3"))
"""Kinds of inlets that read a queue of SQS; their sources are `KIND:URL`."""
PUT = "select queues.put_inlet($1, $2, $3, $4, $5, $6, $7)"


@dataclass(frozen=True, slots=True)
class InletFigures:
    """An inlet with what it counted and how its reading goes; the field names are keys of JSON."""

    name: str
    kind: str
    source: str
    tenant: str | None
    task_types: list[str] | None
    config: dict[str, Any]
    enabled: bool
    retention_seconds: float
    created_at: datetime
    received: int
    taken: int
    duplicates: int
    refused: int
    last_received_at: datetime | None
    last_taken_at: datetime | None
    lag_seconds: float | None
    backlog: int | None
    holder: str | None
    held_since: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    at: datetime
    message_key: str
    reason: str


class InletOperations:
    """An operator's connection; every call is one statement in its own transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(
        self,
        name: str,
        kind: str,
        source: str,
        config: Mapping[str, object],
        *,
        tenant: str | None = None,
        task_types: Sequence[str] | None = None,
        retention: timedelta = timedelta(days=31),
    ) -> int:
        """Add it, or change the one of this name and source. Conflict if its queue has another reader."""
        await self._check_no_rival(source)
        types = None if task_types is None else list(task_types)
        given = (name, kind, source, json.dumps(dict(config)), tenant, types, retention)
        return cast("int", await self._connection.fetchval(PUT, *given))

    async def _check_no_rival(self, source: str) -> None:
        """Two inlets of one queue of SQS would each refuse, or make tasks of, what is the other's."""
        kind, _, queue = source.partition(":")
        if kind not in _OF_SQS:
            return
        for other in _OF_SQS - {kind}:
            reader = await self.reader_of(f"{other}:{queue}")
            if reader is not None:
                raise Conflict(
                    f"the inlet {reader!r} reads the queue {queue} already, as {other}",
                    "queue_url",
                    f"Name another queue, or remove it first: penstock inlet remove {reader}",
                )

    async def list(self, name: str | None = None) -> list[InletFigures]:
        rows = await self._connection.fetch(LIST, name)
        return [InletFigures(**{**row, "config": json.loads(row["config"])}) for row in rows]

    async def show(self, name: str) -> InletFigures:
        found = await self.list(name)
        if not found:
            raise NotFound(f"there is no inlet {name!r}", "inlet", "List them: penstock inlet list")
        return found[0]

    async def refusals(self, name: str, limit: int = 20) -> Sequence[Refusal]:
        rows = await self._connection.fetch("select * from queues.inlet_refusals($1, $2)", name, limit)
        return [Refusal(*row) for row in rows]

    async def set_enabled(self, name: str, enabled: bool, by: str | None = None) -> None:
        await self._connection.execute("select queues.set_inlet($1, $2, $3)", name, enabled, by)

    async def remove(self, name: str, by: str | None = None) -> None:
        await self._connection.execute("select queues.remove_inlet($1, $2)", name, by)

    async def replay(self, name: str, message_ids: Sequence[int] = (), by: str | None = None) -> int:
        """Send archived messages of a pgmq queue again: these, or without ids all that were refused."""
        ids = [*message_ids] or None
        return cast(
            "int", await self._connection.fetchval("select queues.replay_pgmq($1, $2, $3)", name, ids, by)
        )

    async def replay_queue(self, queue: str, message_ids: Sequence[int] = (), by: str | None = None) -> int:
        """Send archived messages of a pgmq queue without an inlet again: these, or without ids all that
        ingestion_read() gave up."""
        ids = [*message_ids] or None
        return cast(
            "int",
            await self._connection.fetchval("select queues.replay_pgmq_queue($1, $2, $3)", queue, ids, by),
        )

    async def reader_of(self, source: str) -> str | None:
        """The name of the inlet that reads this source."""
        return next((each.name for each in await self.list() if each.source == source), None)
