"""People signed in to the console: one-time links, sessions, and who holds them."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from penstock.accounts.caller import TENANT_HEADER, Caller, Role, caller_of_session
from penstock.accounts.token_hash import token_hash
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument, KeyRefused, NotFound, TenantClosed
from penstock.model import uuid7
from penstock.model.rows import row_from_json

if TYPE_CHECKING:
    from penstock.db import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSession:
    """Somebody signed in; `tenant` is None for the installation."""

    session_id: UUID
    name: str
    role: Role
    tenant: str | None
    is_installation: bool
    key_id: UUID | None
    """The key that was used to sign in; revoking it ends the session."""
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionToken:
    """A new session; its cookie holds the token, the database only its hash."""

    session_id: UUID
    expires_at: datetime
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLink:
    """A link that signs in once within ten minutes; the database keeps only its hash."""

    name: str
    role: Role
    tenant: str | None
    expires_at: datetime
    token: str = field(repr=False)


class Sessions:
    """`tenants` connects as the API, or as an operator to create links."""

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def create_link(self, name: str, role: Role, tenant: str | None) -> LoginLink:
        """For operators only; `tenant` is a slug, None for the installation."""
        token = secrets.token_urlsafe(32)
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval(
                "select all_tenants.create_login_link($1, $2, $3, $4)", token_hash(token), tenant, name, role
            )
        made = json.loads(row)
        expires_at = datetime.fromisoformat(made["expires_at"])
        return LoginLink(name=name, role=role, tenant=tenant, expires_at=expires_at, token=token)

    async def use_link(self, token: str) -> SessionToken | None:
        """A session for the link with this token; None if it was used or has expired."""
        session = secrets.token_urlsafe(32)
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval(
                "select all_tenants.use_login_link($1, $2, $3)",
                token_hash(token),
                uuid7(),
                token_hash(session),
            )
        return None if row is None else _started(row, session)

    async def start(self, caller: Caller) -> SessionToken:
        """A session for the holder of a key; it ends with the key."""
        session = secrets.token_urlsafe(32)
        async with self._tenants.transaction(caller.tenant_id) as conn:
            row = await conn.fetchval(
                "select accounts.start_session($1, $2, $3)", uuid7(), token_hash(session), caller.key_id
            )
        return _started(row, session)

    async def authenticate(self, token: str, tenant: str | None = None) -> Caller:
        """Who has this session; `tenant` is the slug that a request names. Raises KeyRefused."""
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval("select all_tenants.find_session($1, $2)", token_hash(token), tenant)
        if row is None:
            raise KeyRefused("the session has ended", "Cookie", "Sign in again: /login, or penstock login")
        found = json.loads(row)
        own = found["tenant"]
        if own is not None and own["status"] != "active":
            raise TenantClosed("this session's tenant is deleted", "tenant")
        if own is None and tenant is not None:
            raise NotFound(f"there is no tenant {tenant[:80]!r}", TENANT_HEADER, "See GET /v1/tenants")
        refuse_other_tenant(None if found["is_installation"] else own["slug"], tenant)
        return caller_of_session(found)

    async def end_own(self, token: str) -> None:
        """Sign out."""
        async with self._tenants.all_tenants() as conn:
            await conn.execute("select all_tenants.end_own_session($1)", token_hash(token))


async def list_sessions(
    conn: Connection, *, of_installation: bool, tenant: str | None, name_part: str | None = None
) -> list[ConsoleSession]:
    """Who is signed in to the transaction's tenant; for the installation: to all tenants, or to one."""
    if of_installation:
        rows = await conn.fetch("select all_tenants.list_sessions($1, _q => $2)", tenant, name_part)
    else:
        rows = await conn.fetch("select accounts.list_sessions(_q => $1)", name_part)
    return [row_from_json(ConsoleSession, row[0]) for row in rows]


async def end_session(conn: Connection, session_id: UUID, *, of_installation: bool) -> None:
    """End a session of the transaction's tenant; for the installation: any."""
    query = "select all_tenants.end_session($1)" if of_installation else "select accounts.end_session($1)"
    await conn.execute(query, session_id)


def refuse_other_tenant(own: str | None, named: str | None) -> None:
    """Reject a request that names another tenant than its key or session belongs to."""
    if own is not None and named is not None and named != own:
        raise InvalidArgument(
            f"your key or session belongs to the tenant {own}, not to {named[:80]!r}",
            TENANT_HEADER,
            "Remove the header, or sign in to the installation: penstock login",
        )


def _started(row: str, token: str) -> SessionToken:
    made = json.loads(row)
    return SessionToken(
        session_id=UUID(made["session_id"]),
        expires_at=datetime.fromisoformat(made["expires_at"]),
        token=token,
    )
