"""Passwords of sources that log in with one: in the vault, each for one place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument
from penstock.model import SourceId, TenantId
from penstock.sources.errors import LoginRejected
from penstock.sources.protocol import PasswordProvider
from penstock.vault.secrets import PASSWORD, Secrets

if TYPE_CHECKING:
    from penstock.sources.protocol import Provider

LONGEST: Final = 1_000
SET: Final = "select ingest.set_password($1, $2)"


class Passwords:
    """Stores and opens passwords; a password that was given for another server is not used."""

    def __init__(self, tenants: TenantPool, secrets: Secrets) -> None:
        self._tenants = tenants
        self._secrets = secrets

    async def set(
        self,
        conn: Connection,
        tenant_id: TenantId,
        source_id: SourceId,
        provider: Provider,
        config: Mapping[str, Any],
        password: str,
    ) -> None:
        """Replace the password of a source; the one before is deleted."""
        sealed = json.dumps({"password": password, "place": _place(provider, config)}).encode()
        newest = await self._secrets.newest(conn, source_id, PASSWORD)
        generation = 1 if newest is None else newest.generation + 1
        secret_id = await self._secrets.put_generation(
            conn, tenant_id, source_id, PASSWORD, generation, sealed
        )
        for dropped in await conn.fetchval(SET, source_id, secret_id):
            await self._secrets.drop(conn, dropped)

    async def open(
        self, tenant_id: TenantId, secret_id: UUID, provider: Provider, config: Mapping[str, Any]
    ) -> str:
        """LoginRejected if the source's server has been changed since the password was given."""
        async with self._tenants.transaction(tenant_id) as conn:
            held = json.loads(await self._secrets.get(conn, tenant_id, secret_id))
        if held["place"] != _place(provider, config):
            raise LoginRejected(provider.title, "its password was given for other settings of the server")
        password: str = held["password"]
        return password


def takes_password(provider: Provider) -> bool:
    return isinstance(provider, PasswordProvider)


def check_password(provider: Provider, password: str | None) -> str:
    """InvalidArgument never repeats the password."""
    if not takes_password(provider):
        raise InvalidArgument(f"{provider.title} needs no password", "password", "Remove it")
    if not password:
        raise InvalidArgument(
            f"{provider.title} needs the password of the account", "password", "Give the password"
        )
    if len(password) > LONGEST or any(each in password for each in "\0\r\n"):
        raise InvalidArgument(
            f"the password must be one line of at most {LONGEST:,} characters", "password", "Check its end"
        )
    return password


def account_of(provider: Provider, config: Mapping[str, Any]) -> str:
    """What a tenant has one source of."""
    if isinstance(provider, PasswordProvider):
        return provider.account_of(config)
    return json.dumps(dict(config), sort_keys=True)


def _place(provider: Provider, config: Mapping[str, Any]) -> str:
    assert isinstance(provider, PasswordProvider)
    return provider.place_of(config)
