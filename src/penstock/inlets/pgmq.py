"""pgmq in our own database: one transaction reads, enqueues and archives."""

from __future__ import annotations

from penstock.inlets.own_database import OwnDatabaseInlet, Statements
from penstock.inlets.protocol import InletRow
from penstock.inlets.register import Surroundings

TAKE = (
    "select received, taken, 0 as duplicates, refused, lag_seconds, bytes from queues.take_from_pgmq($1, $2)"
)
WAITING = "select waiting from queues.pgmq_waiting($1)"


async def open_inlet(row: InletRow, surroundings: Surroundings) -> OwnDatabaseInlet:
    """Opened at its first move; the privileges were granted when it was added."""
    return OwnDatabaseInlet(row, surroundings, Statements(TAKE, WAITING, counted=(row.name,)))
