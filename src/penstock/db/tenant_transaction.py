"""A transaction that begins together with its settings, in one round trip."""

from __future__ import annotations

from typing import Any

import asyncpg
from asyncpg.transaction import Transaction, TransactionState

from penstock.db.types import Connection


class SettingTransaction(Transaction):
    """Like `connection.transaction()`, which takes a round trip for BEGIN alone; for connections of a pool.

    The driver has no call for this, so `start` does what the driver's own one does. If it fails, the pool
    rolls back when the connection is released. Savepoints inside are the driver's own, as ever.
    """

    __slots__ = ("_settings",)

    _connection: Any
    """The driver's connection: the pool's proxy lets nobody set its attributes."""

    def __init__(self, connection: Connection, settings: str) -> None:
        """`settings` is a statement without parameters."""
        held: Any = connection
        super().__init__(getattr(held, "_con", held), None, False, False)
        self._settings = settings

    async def start(self) -> None:
        connection = self._connection
        if connection._top_xact is not None or connection.is_in_transaction():
            raise asyncpg.InterfaceError("the connection is already in a transaction")
        connection._top_xact = self
        try:
            await connection.execute(f"begin; {self._settings}")
        except BaseException:
            self._state = TransactionState.FAILED
            raise
        self._state = TransactionState.STARTED
