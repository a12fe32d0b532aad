"""What a program may do as an operator: create the first tenant, and see which queues are served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.db.addresses import Addresses
from penstock.db.reach import reach
from penstock.db.tenancy import TenantPool
from penstock.errors import Conflict, NotAllowed
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.accounts import Accounts, Tenant


@asynccontextmanager
async def operator_pool(
    addresses: Addresses, settings: Settings, *, size: int = 2
) -> AsyncIterator[TenantPool]:
    """The operator's connection pool; it connects with the first transaction."""
    pool = await TenantPool.open(
        addresses.operator,
        application_name="penstock operator",
        size=size,
        statement_cache=settings.statement_cache,
        quotas=settings.quotas,
    )
    try:
        yield pool
    finally:
        await pool.close()


async def assert_operator(pool: TenantPool) -> None:
    """Raise NotAllowed if the pool's login may not do what operators do."""
    async with pool.all_tenants() as connection:
        login = await connection.fetchval(
            "select session_user::text where not pg_has_role(session_user, 'service_role', 'member')"
        )
    if login is not None:
        raise NotAllowed(f"{login} is not a member of service_role")


@asynccontextmanager
async def operators(addresses: Addresses, settings: Settings) -> AsyncIterator[Accounts]:
    """The accounts with operator rights; it connects on the first call."""
    async with operator_pool(addresses, settings) as pool:
        yield accounts_of(pool, settings)


def accounts_of(pool: TenantPool, settings: Settings) -> Accounts:
    from penstock.accounts import Accounts

    def check(name: str) -> None:
        from penstock.embed.registry import check_configured

        check_configured(name, settings)

    return Accounts(pool, settings, check)


async def is_served(addresses: Addresses, settings: Settings, queue: str) -> bool:
    """Whether a live worker serves this queue."""
    from penstock.queue.operations import Operations

    async with reach(addresses.operator, application_name="penstock operator") as connection:
        workers = await Operations(connection).workers()
    return any(
        queue in row.queue_names and row.lost_at is None and row.silent_seconds < settings.lease_seconds
        for row in workers
    )


async def may_make_default(accounts: Accounts) -> bool:
    """Only while there is no tenant: where there are others, the caller has forgotten to name one."""
    return not await accounts.list_tenants()


async def made_tenant(accounts: Accounts, slug: str) -> Tenant:
    """The tenant with this slug, new or created by another program at the same time."""
    try:
        return await accounts.create_tenant(slug)
    except Conflict:
        return await accounts.find_tenant(slug)
