"""The database transaction of a request: its tenant's, or for the whole installation an operator's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.api.identity import caller_of, engine_of
from penstock.api.problem import HttpRefused
from penstock.errors import NotAllowed

if TYPE_CHECKING:
    from fastapi import Request

    from penstock.accounts import Caller
    from penstock.db import Connection
    from penstock.db.tenancy import TenantPool
    from penstock.engine.engine import Engine


@asynccontextmanager
async def acting(request: Request) -> AsyncIterator[Connection]:
    """One transaction of the caller: as the API for its tenant, as an operator if it names none.

    For routes with `Needs(scope, installation=True)`. Only somebody signed in to the installation, or a key
    of the installation, gets here without a tenant.
    """
    async with acting_for(engine_of(request), caller_of(request)) as connection:
        yield connection


@asynccontextmanager
async def acting_for(engine: Engine, caller: Caller, *, durable: bool = True) -> AsyncIterator[Connection]:
    """The same for a caller; `durable` as in TenantPool.transaction."""
    if caller.tenant is not None:
        async with engine.tenants.transaction(caller.tenant_id, durable=durable) as connection:
            yield connection
    else:
        async with operating_for(engine, caller) as connection:
            yield connection


@asynccontextmanager
async def operating(request: Request) -> AsyncIterator[Connection]:
    """One transaction as an operator, whatever tenant the caller names.

    For routes with `Needs(scope, installation=True, tenant=False)`.
    """
    async with operating_for(engine_of(request), caller_of(request)) as connection:
        yield connection


@asynccontextmanager
async def operating_for(engine: Engine, caller: Caller) -> AsyncIterator[Connection]:
    pool = await operators_for(engine, caller)
    async with pool.all_tenants() as connection, connection.transaction():
        yield connection


async def operators_for(engine: Engine, caller: Caller) -> TenantPool:
    """The operator's connections, for somebody signed in to the installation only."""
    if not caller.is_installation:
        raise HttpRefused(
            "forbidden",
            "Only somebody signed in to the installation, or a key of the installation, may do this",
            "Sign in to it: penstock login. For a program: penstock key create --role operator",
            field="role",
        )
    try:
        return await engine.operators()
    except NotAllowed as refused:
        raise HttpRefused(
            "unavailable",
            f"This API process has no operator's login: {refused.reason}",
            "Set PENSTOCK_OPERATOR_URL for the API, or name a tenant",
            field="PENSTOCK_OPERATOR_URL",
            headers={"Retry-After": "60"},
        ) from refused
