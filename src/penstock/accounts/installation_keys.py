"""Keys of programs that operate the whole installation, with a role as people who are signed in have it."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from penstock.accounts.caller import TENANT_HEADER, Caller, Role, caller_of_installation_key
from penstock.accounts.token_hash import token_hash
from penstock.errors import InvalidArgument, KeyRefused, NotFound, TenantClosed
from penstock.model import KeyId, uuid7
from penstock.model.rows import row_from, row_from_json

if TYPE_CHECKING:
    from penstock.db import Connection
    from penstock.db.tenancy import TenantPool

INSTALLATION_PREFIX: Final = "pki_"
"""Tells such a key from a tenant's before the database is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationKey:
    key_id: KeyId
    name: str
    prefix: str
    role: Role
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInstallationKey(InstallationKey):
    secret: str = field(repr=False)
    """Shown once; the database stores only its hash."""


class InstallationKeys:
    """`tenants` connects as the API; creating, listing and revoking need an operator's connection."""

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def authenticate(self, secret: str, tenant: str | None = None) -> Caller:
        """Who has this key; `tenant` is the slug that a request names. Raises KeyRefused."""
        async with self._tenants.all_tenants() as conn:
            row = await conn.fetchval(
                "select all_tenants.find_operator_key($1, $2)", token_hash(secret), tenant
            )
        if row is None:
            raise KeyRefused("there is no such key", "api_key")
        found = json.loads(row)
        if found["revoked"]:
            raise KeyRefused("the key was revoked", "api_key")
        if found["expired"]:
            raise KeyRefused("the key has expired", "api_key")
        named = found["tenant"]
        if named is None and tenant is not None:
            raise NotFound(f"there is no tenant {tenant[:80]!r}", TENANT_HEADER, "See GET /v1/tenants")
        if named is not None and named["status"] != "active":
            raise TenantClosed(f"the tenant {named['slug']} is deleted", TENANT_HEADER)
        return caller_of_installation_key(found)


async def create_installation_key(
    conn: Connection, name: str, role: Role, expires_at: datetime | None = None
) -> NewInstallationKey:
    """For operators, on the machine with their login: no call of the API does this."""
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise InvalidArgument("the key would already be expired", "expires_at", "Use a future time.")
    secret = INSTALLATION_PREFIX + secrets.token_urlsafe(32)
    row = await conn.fetchval(
        "select all_tenants.create_operator_key($1, $2, $3, $4, $5, $6)",
        uuid7(),
        name,
        secret[:8],
        token_hash(secret),
        role,
        expires_at,
    )
    return row_from(NewInstallationKey, json.loads(row) | {"secret": secret})


async def list_installation_keys(conn: Connection) -> list[InstallationKey]:
    """Newest first."""
    rows = await conn.fetch("select all_tenants.list_operator_keys()")
    return [row_from_json(InstallationKey, row[0]) for row in rows]


async def revoke_installation_key(conn: Connection, key_id: UUID) -> None:
    """At once and for good."""
    await conn.execute("select all_tenants.revoke_operator_key($1)", key_id)
