"""Who is signed in: the caller's own session, and those of others, which an admin may end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Caller, Role, Scope
from penstock.accounts.sessions import ConsoleSession, end_session, list_sessions
from penstock.api.acting import acting, operators_for
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import Needs, engine_of
from penstock.api.parameters import NamePart
from penstock.api.prefix import prefix_of
from penstock.engine.operator_access import accounts_of

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")

Anybody = Annotated[Caller, Depends(Needs(None, installation=True))]
AnyAdmin = Annotated[Caller, Depends(Needs("admin", installation=True))]
MOST_TENANTS: Final = 1_000


class TenantName(BaseModel):
    model_config = ConfigDict(frozen=True)

    slug: str
    name: str


class OwnSession(BaseModel):
    """The caller: `tenant` is the one this request is about, null for the whole installation."""

    model_config = ConfigDict(frozen=True)

    name: str
    role: Role
    is_installation: bool
    tenant: TenantName | None
    tenants: list[TenantName] = Field(
        description="The active tenants to choose from, up to 1,000; only for the installation."
    )
    scopes: list[Scope]
    expires_at: datetime | None = Field(
        description="When the session ends if it is not used; null for a key."
    )
    version: str
    prefix: str = Field(description="The path under which the console and the API are served, or empty.")


class SessionList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[ConsoleSession]


@router.get("/session", operation_id="showSession")
async def session(request: Request, caller: Anybody) -> OwnSession:
    """Show who is signed in, and what they may do."""
    tenants: list[TenantName] = []
    if caller.is_installation:
        engine = engine_of(request)
        accounts = accounts_of(await operators_for(engine, caller), engine.settings)
        tenants = [
            TenantName(slug=found.slug, name=found.name)
            for found in await accounts.list_tenants()
            if found.status == "active"
        ][:MOST_TENANTS]
    own = caller.tenant
    return OwnSession(
        name=caller.name,
        role=caller.role,
        is_installation=caller.is_installation,
        tenant=None if own is None else TenantName(slug=own.slug, name=own.name),
        tenants=tenants,
        scopes=caller.scopes,
        expires_at=caller.expires_at,
        version=version("penstock"),
        prefix=prefix_of(request),
    )


@router.get("/sessions", operation_id="listSessions")
async def sessions(
    request: Request,
    caller: AnyAdmin,
    tenant: Annotated[
        str | None, Query(max_length=63, description="Only this tenant's; for the installation.")
    ] = None,
    q: NamePart = None,
) -> SessionList:
    """List who is signed in, newest first."""
    async with acting(request) as conn:
        found = await list_sessions(
            conn, of_installation=caller.tenant is None, tenant=tenant, name_part=q or None
        )
    return SessionList(items=found)


@router.delete("/sessions/{session_id}", status_code=204, operation_id="endSession")
async def end(
    request: Request, caller: AnyAdmin, session_id: Annotated[UUID, Path(description="The session's id.")]
) -> None:
    """End somebody's session at once."""
    async with acting(request) as conn:
        await end_session(conn, session_id, of_installation=caller.tenant is None)
