"""Transactions that belong to a tenant: row security shows only that tenant's rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, Self
from uuid import UUID

from penstock.db.connect import create_pool, translated
from penstock.db.patient_pool import PatientPool
from penstock.db.tenant_transaction import SettingTransaction
from penstock.db.types import Connection, Pool
from penstock.model import TenantId

SET_TENANT = "select set_config('penstock.tenant_id', $1, true)"
_TENANT = "set_config('penstock.tenant_id', {}, true)"
_LIGHTLY = ", set_config('synchronous_commit', 'off', true)"
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
        self._pool = PatientPool(pool)
        self._quotas = "".join(
            f", set_config('penstock.{name}', '{limit:d}', true)"
            for name, limit in (quotas or {}).items()
            if limit > 0
        )

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
        return self._pool.pool

    async def close(self) -> None:
        await self._pool.pool.close()

    @asynccontextmanager
    async def transaction(self, tenant_id: TenantId, *, durable: bool = True) -> AsyncIterator[Connection]:
        """One transaction of this tenant; SQL refusals are raised as Penstock's errors.

        Not `durable`: its commit does not wait for the disk. For steps of a run, which are repeated after a
        server crash; the commit that ends the run flushes everything before it.
        """
        async with self._pool.acquire() as connection:
            with translated():
                settings = self._settings(f"'{UUID(str(tenant_id))}'", durable=durable)
                if (limit := _milliseconds.get()) is not None:
                    settings += f", {_LIMIT_TIME.format(limit)}"
                async with SettingTransaction(connection, f"select {settings}"):
                    yield connection

    async def call(self, tenant_id: TenantId, function: str, *arguments: object, durable: bool = True) -> Any:
        """The value of one function, called in a transaction of this tenant of its own, in one round trip.

        `function` is a call whose parameters begin with $2.
        """
        if _milliseconds.get() is not None:
            # A limit set by the statement itself would not hold for it.
            async with self.transaction(tenant_id, durable=durable) as connection:
                statement = f"select {function} from (select $1::text) as tenant"  # noqa: S608  # our own text
                return await connection.fetchval(statement, str(tenant_id), *arguments)
        settings = self._settings("$1::text", durable=durable)
        async with self._pool.acquire() as connection:
            with translated():
                statement = f"select {function} from (select {settings}) as tenant"  # noqa: S608  # our own
                return await connection.fetchval(statement, str(tenant_id), *arguments)

    async def fetchval(self, statement: str, *arguments: object) -> Any:
        """The value of a statement that sets its tenant itself, as a transaction of its own."""
        async with self._pool.acquire() as connection:
            return await connection.fetchval(statement, *arguments)

    def _settings(self, tenant: str, *, durable: bool) -> str:
        return _TENANT.format(tenant) + ("" if durable else _LIGHTLY) + self._quotas

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
