"""Transactions that belong to a tenant: row security shows only that tenant's rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Self

from penstock.db.connect import create_pool, translated
from penstock.db.types import Connection, Pool
from penstock.model import TenantId

SET_TENANT = "select set_config('penstock.tenant_id', $1, true)"
SET_TENANT_LIGHTLY = SET_TENANT + ", set_config('synchronous_commit', 'off', true)"
_LIMIT_TIME = "set_config('statement_timeout', '{:d}', true)"

_milliseconds: ContextVar[int | None] = ContextVar("statement_milliseconds", default=None)


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Within the block, transactions of any pool stop a statement that takes longer than this."""
    before = _milliseconds.set(int(seconds * 1_000))
    try:
        yield
    finally:
        _milliseconds.reset(before)


class TenantPool:
    """Connections of one login; the tenant is set for a transaction, never for a session."""

    def __init__(self, pool: Pool, quotas: Mapping[str, int] | None = None) -> None:
        self._pool = pool
        limits = "".join(
            f", set_config('penstock.{name}', '{limit:d}', true)"
            for name, limit in (quotas or {}).items()
            if limit > 0
        )
        self._set_tenant = SET_TENANT + limits
        self._set_tenant_lightly = SET_TENANT_LIGHTLY + limits

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        application_name: str,
        size: int = 10,
        statement_cache: int = 100,
        quotas: Mapping[str, int] | None = None,
    ) -> Self:
        """`quotas`: the defaults for tenants without their own; SQL reads them in each transaction."""
        return cls(
            await create_pool(
                url,
                application_name=application_name,
                min_size=0,
                max_size=size,
                tidy=False,  # every setting is transaction-local, so there is nothing to reset
                statement_cache_size=statement_cache,
            ),
            quotas,
        )

    @property
    def pool(self) -> Pool:
        return self._pool

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def transaction(self, tenant_id: TenantId, *, durable: bool = True) -> AsyncIterator[Connection]:
        """One transaction of this tenant; SQL refusals are raised as Penstock's errors.

        Not `durable`: its commit does not wait for the disk. For steps of a run, which are repeated after a
        server crash; the commit that ends the run flushes everything before it.
        """
        async with self._pool.acquire() as connection:
            with translated():
                async with connection.transaction():
                    settings = self._set_tenant if durable else self._set_tenant_lightly
                    if (limit := _milliseconds.get()) is not None:
                        settings = f"{settings}, {_LIMIT_TIME.format(limit)}"
                    await connection.execute(settings, str(tenant_id))
                    yield connection

    @asynccontextmanager
    async def all_tenants(self) -> AsyncIterator[Connection]:
        """A connection without a tenant, for functions of `all_tenants`; no table shows it a row."""
        limit = _milliseconds.get()
        async with self._pool.acquire() as connection:
            with translated():
                if limit is None:
                    yield connection
                    return
                # A setting of the connection itself would stay on it when the pool passes it on.
                async with connection.transaction():
                    await connection.execute(f"select {_LIMIT_TIME.format(limit)}")
                    yield connection
