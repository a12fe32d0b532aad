"""Transactions that belong to a tenant: row security sees no other's rows while one lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from penstock.db.connect import create_pool, translated
from penstock.db.types import Connection, Pool
from penstock.model import TenantId

SET_TENANT = "select set_config('penstock.tenant_id', $1, true)"
SET_TENANT_LIGHTLY = SET_TENANT + ", set_config('synchronous_commit', 'off', true)"


class TenantPool:
    """Connections of one login; the tenant is set for a transaction, never for a session."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @classmethod
    async def open(
        cls, url: str, *, application_name: str, size: int = 10, statement_cache: int = 100
    ) -> Self:
        return cls(
            await create_pool(
                url,
                application_name=application_name,
                min_size=0,
                max_size=size,
                tidy=False,  # every setting is a transaction's own, so there is nothing to reset
                statement_cache_size=statement_cache,
            )
        )

    @property
    def pool(self) -> Pool:
        return self._pool

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def transaction(self, tenant_id: TenantId, *, durable: bool = True) -> AsyncIterator[Connection]:
        """One transaction of this tenant; what SQL refuses comes out as our errors.

        Not `durable`: its commit does not wait for the disk. For steps of a run, which are done again after a
        crash of the server; the commit that ends the run puts all before it on disk.
        """
        async with self._pool.acquire() as connection:
            with translated():
                async with connection.transaction():
                    await connection.execute(SET_TENANT if durable else SET_TENANT_LIGHTLY, str(tenant_id))
                    yield connection

    @asynccontextmanager
    async def everyone(self) -> AsyncIterator[Connection]:
        """A connection without a tenant, for calls in the schema `keeping`; nothing else shows it a row."""
        async with self._pool.acquire() as connection:
            with translated():
                yield connection
