"""Audits what a command changes, as the API audits a request: a row before it, completed afterwards.

Who runs it has the operator's login, and so counts as signed in to the installation; the name begins with
`cli:`.
"""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from penstock.accounts import audit
from penstock.accounts.caller import SCOPES_OF, Caller, CallerTenant
from penstock.accounts.rows import Tenant
from penstock.cli.session import operator
from penstock.db import Connection
from penstock.errors import PenstockError
from penstock.model import uuid7

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.queue.operations import Operations

DONE: Final = 200
REFUSED: Final = 400
FAILED: Final = 500

Opened = Callable[[], AbstractAsyncContextManager[Connection]]


def user() -> str:
    """The name of this system's user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "operator"


@asynccontextmanager
async def audited(
    opened: Opened, action: str, target: str | None = None, *, tenant: CallerTenant | Tenant | None = None
) -> AsyncIterator[dict[str, Any]]:
    """A row about the block, with the facts put into the dictionary; never a secret.

    `opened` gives the operator's connection, for a tenant's row in a transaction of the tenant.
    """
    caller = _caller(tenant)
    facts: dict[str, Any] = {}
    async with opened() as conn:
        row = await audit.begin_audit(
            conn, caller, action=f"penstock {action}", target=target, request_id=uuid7().hex
        )
    status = FAILED
    try:
        yield facts
        status = DONE
    except Exception as error:
        # What SQL refuses is translated further out.
        if isinstance(error, PenstockError) or str(getattr(error, "sqlstate", "")).startswith("PS"):
            status = REFUSED
        raise
    finally:
        async with opened() as conn:
            await audit.end_audit(conn, caller, row, status, facts)


@asynccontextmanager
async def audited_operations(
    action: str, target: str | None = None
) -> AsyncIterator[tuple[Operations, dict[str, Any]]]:
    """The operator's queue operations for a change, which leaves a row in the installation's audit."""
    from penstock.queue.operations import Operations

    async with operator() as connection, audited(over(connection), action, target) as facts:
        yield Operations(connection), facts


@asynccontextmanager
async def audited_for(
    pool: TenantPool, tenant: CallerTenant | Tenant, action: str, target: str | None = None
) -> AsyncIterator[dict[str, Any]]:
    """A row about the block in the audit of this tenant."""
    async with audited(lambda: pool.transaction(tenant.tenant_id), action, target, tenant=tenant) as facts:
        yield facts


def over(connection: Connection) -> Opened:
    """The rows over this connection, which stays open."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Connection]:
        yield connection

    return opened


def _caller(tenant: CallerTenant | Tenant | None) -> Caller:
    about = None if isinstance(tenant, Tenant) else tenant
    if isinstance(tenant, Tenant):
        about = CallerTenant(
            tenant_id=tenant.tenant_id,
            slug=tenant.slug,
            name=tenant.name,
            requests_per_minute=tenant.requests_per_minute,
            max_upload_bytes=tenant.max_upload_bytes,
        )
    return Caller(
        name=f"cli:{user()}",
        role="admin",
        scopes=list(SCOPES_OF["admin"]),
        tenant=about,
        is_installation=True,
    )
