"""Opens the engine for one command: the database running, the services connected, a tenant looked up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from penstock.cli import completion
from penstock.cli.failures import warn
from penstock.cli.session import database
from penstock.db.addresses import Addresses, prepare
from penstock.db.connect import assert_safe_role
from penstock.db.migrator import assert_migrated
from penstock.db.reach import reaching
from penstock.db.tenancy import TenantPool
from penstock.engine.local_worker import NO_WORKER, LocalWorker
from penstock.engine.operator_access import (
    accounts_of,
    is_served,
    made_tenant,
    may_make_default,
    operator_pool,
)
from penstock.engine.services import Services
from penstock.errors import NotFound, TenantClosed
from penstock.model import TenantId
from penstock.model.queue_names import INGEST
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.accounts import Accounts

DEFAULT = "default"

TenantSlug = Annotated[
    str,
    typer.Option("--tenant", metavar="SLUG", help="The tenant's slug.", autocompletion=completion.tenants),
]
ProjectSlug = Annotated[
    str,
    typer.Option("--project", metavar="SLUG", help="The project's slug.", autocompletion=completion.projects),
]
AnyProject = Annotated[
    str | None,
    typer.Option("--project", metavar="SLUG", help="Only this project.", autocompletion=completion.projects),
]
DocumentName = Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document's id, path or name.")]


@dataclass(frozen=True, slots=True)
class TenantSession:
    """The services under the runtime login, and the operator's accounts."""

    engine: Services
    addresses: Addresses
    operator_tenants: TenantPool
    audited: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Rows of the audit that end with the session."""

    @property
    def operators(self) -> Accounts:
        """The accounts with operator rights; it connects on the first call."""
        return accounts_of(self.operator_tenants, self.engine.settings)

    async def tenant(
        self,
        slug: str,
        *,
        create: bool = False,
        project: str = DEFAULT,
        change: str | None = None,
        target: str | None = None,
    ) -> TenantId:
        """The tenant with this slug; `create` creates the default tenant in a database without tenants.

        Check a command's arguments before, or one that is refused leaves the tenant behind; `project` is
        checked here, because a new tenant has only the default one. With `change`, the command's words, the
        rest of the session leaves a row in the tenant's audit.
        """
        try:
            row = await self._find(slug)
        except NotFound:
            if not (create and slug == DEFAULT and await may_make_default(self.operators)):
                raise
            if project != DEFAULT:
                raise NotFound(
                    f"there is no project {project!r}",
                    "project",
                    f"Create it: penstock project create {project}",
                ) from None
            await made_tenant(self.operators, slug)
            row = await self._find(slug)
        if row["status"] != "active":
            raise TenantClosed(f"the tenant {slug!r} is deleted", "tenant")
        if change is not None:
            await self._audit(row, change, target)
        return TenantId(UUID(row["tenant_id"]))

    async def _audit(self, row: Mapping[str, Any], change: str, target: str | None) -> None:
        from penstock.accounts.caller import CallerTenant
        from penstock.cli.auditing import audited_for

        about = CallerTenant(
            tenant_id=TenantId(UUID(row["tenant_id"])),
            slug=row["slug"],
            name=row["name"],
            requests_per_minute=row["requests_per_minute"],
            max_upload_bytes=row["max_upload_bytes"],
        )
        await self.audited.enter_async_context(audited_for(self.engine.tenants, about, change, target))

    async def _find(self, slug: str) -> dict[str, Any]:
        """Like `Accounts.find_tenant`, but without loading its models: every command calls this."""
        async with self.engine.tenants.all_tenants() as connection:
            row: dict[str, Any] = json.loads(
                await connection.fetchval("select all_tenants.find_tenant($1)", slug)
            )
        return row

    async def require_index(self) -> None:
        """Stop if documents cannot be indexed here, with what a superuser must run."""
        if self.engine.settings.index == "pgvector":  # a Qdrant folder can only be opened by the worker
            await self.engine.index.require()

    async def served(self, queue: str) -> bool:
        """Whether a live worker serves this queue."""
        return await is_served(self.addresses, self.engine.settings, queue)

    def local_worker(
        self, wanted: bool | None = None, *, queue: str = INGEST, no_worker: str = NO_WORKER
    ) -> LocalWorker:
        """A worker in this process, if wanted or if no other one serves the queue."""
        from penstock.engine.engine import Engine

        return LocalWorker(
            engine=lambda: Engine(self.engine.settings),
            served=lambda: self.served(queue),
            may_start=self.addresses.embedded is not None,
            look_seconds=self.engine.settings.lease_seconds,
            warn=warn,
            wanted=wanted,
            no_worker=no_worker,
        )

    async def declare(self) -> None:
        """Register the task types of documents, unless a live worker has done so already."""
        if await self.served(INGEST):
            return
        from penstock.engine.engine import Engine

        async with Engine(self.engine.settings).tasks:
            pass  # opening an app declares its task types


@asynccontextmanager
async def tenant_session(
    settings: Settings | None = None, *, create: bool = False
) -> AsyncIterator[TenantSession]:
    """The engine for the duration of the block; `create` allows a new embedded database."""
    settings = settings or Settings()
    async with database(settings, create=create) as addresses:
        services = Services(settings)
        try:
            with reaching(addresses.runtime):
                await _open(services, addresses)
                async with operator_pool(addresses, settings) as pool, AsyncExitStack() as audited:
                    yield TenantSession(services, addresses, pool, audited)
        finally:
            await services.close()


async def _open(services: Services, addresses: Addresses) -> None:
    """Connect as the runtime login; a login that row security does not bind is rejected."""
    if addresses.embedded is not None:
        await prepare(addresses)
    await services.connect(addresses.runtime)
    async with services.tenants.all_tenants() as connection:
        await assert_safe_role(connection)
        await assert_migrated(connection, folders=addresses.folders)


@asynccontextmanager
async def accounts_of_operators(*, create: bool = False) -> AsyncIterator[Accounts]:
    """Only the accounts, for commands that need no documents; `create` as in `tenant_session`."""
    async with accounts_with_pool(create=create) as (accounts, _):
        yield accounts


@asynccontextmanager
async def accounts_with_pool(*, create: bool = False) -> AsyncIterator[tuple[Accounts, TenantPool]]:
    """The same with the operator's connections."""
    settings = Settings()
    async with as_operator(settings, create=create) as (_, pool):
        yield accounts_of(pool, settings), pool


@asynccontextmanager
async def as_operator(
    settings: Settings, *, create: bool = False
) -> AsyncIterator[tuple[Addresses, TenantPool]]:
    """The operator's connection pool; an embedded database is started and migrated first."""
    async with database(settings, create=create) as addresses:
        with reaching(addresses.operator):
            if addresses.embedded is not None:
                await prepare(addresses)
            async with operator_pool(addresses, settings) as pool:
                yield addresses, pool
