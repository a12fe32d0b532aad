"""Moves messages of another queue in our own database: one SQL call and one transaction per batch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from penstock.db import Connection
from penstock.db.connect import CONNECTION_LOST, connect, translated
from penstock.inlets.calls import InletGone, noticing_the_end
from penstock.inlets.faults import reach
from penstock.inlets.protocol import InletRow, Moved
from penstock.inlets.register import Surroundings

FIRST_LIMIT = 100
LONGEST_STATEMENT = 60.0
MOST_BYTES = 16 * 1024 * 1024
"""A batch larger than this is followed by a smaller one."""
COUNT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Statements:
    """`take` gets the inlet's name, a limit and the arguments; `waiting` only `counted`."""

    take: str
    """Selects received, taken, duplicates, refused, lag_seconds and bytes."""
    waiting: str
    """Selects how many messages are left, at little cost."""
    arguments: Sequence[object] = ()
    counted: Sequence[object] = ()


class OwnDatabaseInlet:
    """Its batches grow while they are small in bytes, and shrink when one fails or takes too long."""

    def __init__(
        self, row: InletRow, surroundings: Surroundings, statements: Statements, largest: int = 1_000
    ) -> None:
        self.name = row.name
        self.source = row.source
        self._statements = statements
        self._url = surroundings.runtime_url
        self._cache = surroundings.settings.statement_cache
        self._largest = largest
        self._limit = min(FIRST_LIMIT, largest)
        self._connection: Connection | None = None
        self._backlog: int | None = None
        self._counted_at = 0.0

    async def move(self) -> Moved:
        connection = await self._open()
        given = (self.name, self._limit, *self._statements.arguments)
        try:
            with noticing_the_end(), translated():
                async with connection.transaction():
                    row = await connection.fetchrow(self._statements.take, *given, timeout=LONGEST_STATEMENT)
                    assert row is not None
                    if row["received"]:
                        reach("inlet.received")
            if row["received"]:
                reach("inlet.committed")
            self._adapt(row["received"], row["bytes"] or 0)
            return Moved(
                row["received"],
                row["taken"],
                row["duplicates"],
                row["refused"],
                lag_seconds=row["lag_seconds"],
                backlog=await self._waiting(connection, row["received"]),
            )
        except TimeoutError:
            # It may be the network's fault or the batch's; only a smaller batch helps with the latter.
            self._shrink()
            self._drop()
            raise
        except CONNECTION_LOST:
            self._drop()
            raise
        except InletGone:
            raise
        except Exception:
            self._shrink()
            raise

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def aclose(self) -> None:
        self._drop()

    def _shrink(self) -> None:
        self._limit = max(1, self._limit // 4)

    def _adapt(self, received: int, size: int) -> None:
        if size > MOST_BYTES:
            self._shrink()
        elif received == self._limit:
            self._limit = min(self._largest, self._limit * 2)

    async def _waiting(self, connection: Connection, received: int) -> int | None:
        """What is left, counted now and then: the count reads up to 10,001 rows."""
        if not received:
            self._backlog = 0
        elif monotonic() - self._counted_at > COUNT_SECONDS:
            statements = self._statements
            self._counted_at = monotonic()
            try:
                self._backlog = await connection.fetchval(
                    statements.waiting, *statements.counted, timeout=LONGEST_STATEMENT
                )
            except TimeoutError:  # the messages are moved all the same
                self._backlog = None
                self._drop()
        return self._backlog

    async def _open(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(
                self._url,
                application_name=f"penstock inlet {self.name}"[:63],
                statement_cache_size=self._cache,
            )
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            connection.terminate()
