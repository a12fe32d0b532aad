"""One command's stay with the product: the database up, the services open, and a tenant to work for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from penstock.cli.session import database
from penstock.db.addresses import Addresses, prepare
from penstock.db.connect import assert_safe_role
from penstock.db.migrator import assert_migrated
from penstock.db.reach import reach, reaching
from penstock.db.tenancy import TenantPool
from penstock.errors import Conflict, NotFound, TenantClosed
from penstock.model import TenantId
from penstock.product.queues import INGEST
from penstock.product.services import Services
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.accounts import Accounts, Tenant

DEFAULT = "default"

TenantSlug = Annotated[str, typer.Option("--tenant", metavar="SLUG", help="Whose documents.")]
ProjectSlug = Annotated[
    str, typer.Option("--project", metavar="SLUG", help="Which of the tenant's projects.")
]
AnyProject = Annotated[
    str | None, typer.Option("--project", metavar="SLUG", help="Only this one of the tenant's projects.")
]
DocumentName = Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document's id, path or name.")]


@dataclass(frozen=True, slots=True)
class Stay:
    """The services as the runtime login has them, and what only operators may."""

    product: Services
    addresses: Addresses
    operator_tenants: TenantPool

    @property
    def operators(self) -> Accounts:
        """The accounts as an operator; no connection is made before the first call."""
        return _accounts(self.operator_tenants, self.product.settings)

    async def tenant(self, slug: str, *, create: bool = False) -> TenantId:
        """The tenant of this name; `create` makes the default one for the first user of a database."""
        try:
            tenant_id, status = await self._find(slug)
        except NotFound:
            if not (create and slug == DEFAULT and await may_make_default(self.addresses, self.operators)):
                raise
            made = await made_tenant(self.operators, slug)
            tenant_id, status = made.tenant_id, made.status
        if status != "active":
            raise TenantClosed(f"the tenant {slug!r} is deleted", "tenant")
        return tenant_id

    async def _find(self, slug: str) -> tuple[TenantId, str]:
        """What `Accounts.find_tenant` knows, without the models of accounts: every command asks it."""
        async with self.product.tenants.everyone() as connection:
            row = json.loads(await connection.fetchval("select keeping.find_tenant($1)", slug))
        return TenantId(UUID(row["tenant_id"])), row["status"]

    async def require_index(self) -> None:
        """Refuse to go on where no document could be indexed, with what a superuser has to run."""
        if self.product.settings.index == "pgvector":  # a folder of Qdrant belongs to the worker alone
            await self.product.index.require()

    async def served(self, queue: str) -> bool:
        """Whether a worker that is alive serves this queue."""
        return await is_served(self.addresses, self.product.settings, queue)

    async def declare(self) -> None:
        """Tell the database the task types of documents; a live worker has told it already."""
        if await self.served(INGEST):
            return
        from penstock.product import Product

        async with Product(self.product.settings).app:
            pass  # opening an app declares its task types


@asynccontextmanager
async def stay(settings: Settings | None = None, *, create: bool = False) -> AsyncIterator[Stay]:
    """The product while the block runs; `create` may make a new embedded database."""
    settings = settings or Settings()
    async with database(settings, create=create) as addresses:
        services = Services(settings)
        try:
            with reaching(addresses.runtime):
                await _open(services, addresses)
                async with operator_pool(addresses, settings) as pool:
                    yield Stay(services, addresses, pool)
        finally:
            await services.close()


async def _open(services: Services, addresses: Addresses) -> None:
    """Connect as the runtime login; one that row security does not bind is refused."""
    if addresses.embedded is not None:
        await prepare(addresses)
    await services.connect(addresses.runtime)
    async with services.tenants.everyone() as connection:
        await assert_safe_role(connection)
        await assert_migrated(connection)


@asynccontextmanager
async def operators(addresses: Addresses, settings: Settings) -> AsyncIterator[Accounts]:
    """The accounts as an operator; no connection is made before the first call."""
    async with operator_pool(addresses, settings) as pool:
        yield _accounts(pool, settings)


def _accounts(pool: TenantPool, settings: Settings) -> Accounts:
    from penstock.accounts import Accounts

    return Accounts(pool, settings, _embedder_check(settings))


@asynccontextmanager
async def operator_pool(addresses: Addresses, settings: Settings) -> AsyncIterator[TenantPool]:
    pool = await TenantPool.open(
        addresses.operator,
        application_name="penstock cli",
        size=2,
        statement_cache=settings.statement_cache,
        quotas=settings.quotas,
    )
    try:
        yield pool
    finally:
        await pool.close()


async def is_served(addresses: Addresses, settings: Settings, queue: str) -> bool:
    """Whether a worker that is alive serves this queue."""
    from penstock.queue.operations import Operations

    async with reach(addresses.operator, application_name="penstock cli") as connection:
        workers = await Operations(connection).workers()
    return any(
        queue in row.queue_names and row.lost_at is None and row.silent_seconds < settings.lease_seconds
        for row in workers
    )


@asynccontextmanager
async def accounts_of_operators(*, create: bool = False) -> AsyncIterator[Accounts]:
    """Only the accounts, for commands that need no documents; `create` as in `stay`."""
    settings = Settings()
    async with as_operator(settings, create=create) as (_, pool):
        yield _accounts(pool, settings)


@asynccontextmanager
async def as_operator(
    settings: Settings, *, create: bool = False
) -> AsyncIterator[tuple[Addresses, TenantPool]]:
    """The operator's connections to a database that is up and, if it is ours, migrated."""
    async with database(settings, create=create) as addresses:
        with reaching(addresses.operator):
            if addresses.embedded is not None:
                await prepare(addresses)
            async with operator_pool(addresses, settings) as pool:
                yield addresses, pool


def _embedder_check(settings: Settings) -> Callable[[str], None]:
    def check(name: str) -> None:
        from penstock.pipeline.embed.registry import check_configured

        check_configured(name, settings)

    return check


async def may_make_default(addresses: Addresses, accounts: Accounts) -> bool:
    """Always on the embedded server; on another as long as nobody has created a tenant there."""
    return addresses.embedded is not None or not await accounts.list_tenants()


async def made_tenant(accounts: Accounts, slug: str) -> Tenant:
    """The tenant of this name, new or made by whoever was faster."""
    try:
        return await accounts.create_tenant(slug)
    except Conflict:  # two commands at once
        return await accounts.find_tenant(slug)
