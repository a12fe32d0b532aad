"""A connection that reopens after it was lost; the caller decides whether to repeat a statement."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Mapping

from penstock.db.connect import CONNECTION_LOST, connect, translated
from penstock.db.types import Connection, Record


class ReconnectingConnection:
    """One caller at a time; reconnects with backoff and jitter for as long as it takes."""

    def __init__(
        self,
        url: str,
        *,
        application_name: str,
        server_settings: Mapping[str, str] | None = None,
        statement_timeout: float = 60.0,
        longest_delay: float = 5.0,
        statement_cache: int = 100,
    ) -> None:
        self._url = url
        self._application_name = application_name
        self._server_settings = server_settings
        self._timeout = statement_timeout
        self._longest_delay = longest_delay
        self._statement_cache = statement_cache
        self._connection: Connection | None = None
        self._lock = asyncio.Lock()
        self._failures = 0

    async def fetch(self, query: str, *args: object) -> list[Record]:
        """Rows of one statement; one of CONNECTION_LOST means that it may or may not have run."""
        async with self._lock:
            connection = await self._open()
            try:
                with translated():
                    return await connection.fetch(query, *args, timeout=self._timeout)
            except CONNECTION_LOST:
                self._drop()
                raise

    async def fetchval(self, query: str, *args: object) -> object:
        """The first column of the first row."""
        rows = await self.fetch(query, *args)
        return rows[0][0] if rows else None

    async def open(self) -> None:
        """Connect before the first statement; if that fails, the first statement tries again."""
        async with self._lock:
            with contextlib.suppress(*CONNECTION_LOST), translated():
                await self._open()

    async def close(self) -> None:
        """Close the connection; the next statement would reopen it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(*CONNECTION_LOST):
                await connection.close(timeout=2)

    async def _open(self) -> Connection:
        if self._connection is not None and not self._connection.is_closed():
            return self._connection
        if self._failures:
            delay = min(self._longest_delay, 0.05 * 2.0 ** min(self._failures, 10))
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))
        try:
            self._connection = await connect(
                self._url,
                application_name=self._application_name,
                server_settings=self._server_settings,
                timeout=min(10.0, self._timeout),
                statement_cache_size=self._statement_cache,
            )
        except Exception:
            self._failures += 1
            raise
        self._failures = 0
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._failures += 1
        if connection is not None and not connection.is_closed():
            connection.terminate()
