"""Tenants' secrets in the database: encrypted before they are written, decrypted after they are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.db.tenancy import TenantPool
from penstock.errors import VaultKeyReplaced
from penstock.model import SourceId, TenantId
from penstock.model.ids import uuid7
from penstock.vault.key_ring import KeyRing
from penstock.vault.parameters import ParameterStore
from penstock.vault.sealing import Sealed, Vault

WEBHOOK: Final = "webhook"
ACCESS_TOKEN: Final = "access_token"  # noqa: S105  # a purpose, not a secret
REFRESH_TOKEN: Final = "refresh_token"  # noqa: S105  # a purpose, not a secret
PASSWORD: Final = "password"  # noqa: S105  # a purpose, not a secret


@dataclass(frozen=True, slots=True)
class SecretGeneration:
    """One generation of a source's secret; it is orphaned once nothing points at it any more."""

    secret_id: UUID
    generation: int
    created_at: datetime
    orphaned_at: datetime | None


class Secrets:
    """Stores and reads secrets in the caller's transaction, which must be the tenant's."""

    def __init__(
        self,
        keys: KeyRing | Vault,
        parameters: ParameterStore | None = None,
        *,
        refresh_tokens_in_parameters: bool = False,
    ) -> None:
        self.keys = KeyRing.fixed(keys) if isinstance(keys, Vault) else keys
        self._parameters = parameters
        self._outside = {REFRESH_TOKEN} if refresh_tokens_in_parameters else set[str]()

    async def put(
        self, conn: Connection, tenant_id: UUID, name: str, plaintext: bytes, *, purpose: str = WEBHOOK
    ) -> UUID:
        """Store a secret and return its id; to change one, store a new one and update the reference."""
        return await self._put(conn, tenant_id, name, plaintext, purpose, None, None)

    async def put_generation(
        self,
        conn: Connection,
        tenant_id: UUID,
        source_id: SourceId,
        purpose: str,
        generation: int,
        plaintext: bytes,
        *,
        in_database: bool = False,
    ) -> UUID:
        """Store one generation of a source's secret; Conflict if the source already has it.

        A refresh token goes to the Parameter Store if the settings say so, but not if `in_database`. The
        source must exist. A caller that holds its row `for update` in another transaction would wait for
        itself here: the insert needs a key share lock on that row.
        """
        name = f"{source_id}/{purpose}/{generation}"
        return await self._put(
            conn, tenant_id, name, plaintext, purpose, source_id, generation, in_database=in_database
        )

    async def store_generation(
        self,
        tenants: TenantPool,
        tenant_id: TenantId,
        source_id: SourceId,
        purpose: str,
        generation: int,
        plaintext: bytes,
    ) -> UUID:
        """Like `put_generation`, in a transaction of its own: it is on disk when this returns.

        A caller inside a transaction passes another pool than that one's: a pool whose connections all wait
        for another one of it waits for ever.
        """
        async with tenants.transaction(tenant_id) as conn:
            return await self.put_generation(conn, tenant_id, source_id, purpose, generation, plaintext)

    async def newest(self, conn: Connection, source_id: SourceId, purpose: str) -> SecretGeneration | None:
        """The highest generation of a source's secret, orphaned or not; the next one has the next number."""
        with translated():
            row = await conn.fetchrow("select * from vault.newest_secret($1, $2)", source_id, purpose)
        return None if row is None else SecretGeneration(**dict(row))

    async def get(self, conn: Connection, tenant_id: UUID, secret_id: UUID) -> bytes:
        """The plaintext; NotFound if the tenant has no secret with this id."""
        with translated():
            row = await conn.fetchrow("select * from vault.get_secret($1)", secret_id)
        assert row is not None  # the function raises when there is none
        ciphertext = row["ciphertext"]
        if row["parameter_name"] is not None:
            assert self._parameters is not None, "secrets in parameters need the store"
            ciphertext = await self._parameters.get(row["parameter_name"])
        sealed = Sealed(ciphertext, row["nonce"], row["wrapped_key"], row["key_nonce"], row["key_id"])
        vault = await self.keys.vault_with(sealed.key_id)
        return vault.open(tenant_id, secret_id, row["name"], sealed)

    async def orphan(self, conn: Connection, secret_id: UUID) -> bool:
        """Note that nothing points at a secret any more; it is deleted after `orphaned_secret_days`."""
        with translated():
            return await conn.fetchval("select vault.orphan_secret($1)", secret_id) is True

    async def drop(self, conn: Connection, secret_id: UUID) -> bool:
        """Delete a secret; False if the tenant has no secret with this id."""
        with translated():
            return await conn.fetchval("select vault.drop_secret($1)", secret_id) is True

    async def _put(
        self,
        conn: Connection,
        tenant_id: UUID,
        name: str,
        plaintext: bytes,
        purpose: str,
        source_id: SourceId | None,
        generation: int | None,
        *,
        in_database: bool = False,
    ) -> UUID:
        secret_id, parameter = uuid7(), None
        outside = purpose in self._outside and not in_database
        if self._parameters is not None and source_id is not None and outside:
            secret_id, parameter = await self._parameters.plan(tenant_id, source_id, purpose)

        async def insert(vault: Vault) -> None:
            sealed = vault.seal(tenant_id, secret_id, name, plaintext)
            if self._parameters is not None and parameter is not None:
                await self._parameters.put(parameter, sealed.ciphertext)
            # A savepoint: after a refusal the caller's transaction must go on with another key.
            with translated():
                async with conn.transaction():
                    await conn.execute(
                        "select vault.put_secret($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                        secret_id,
                        name,
                        sealed.ciphertext if parameter is None else None,
                        sealed.nonce,
                        sealed.wrapped_key,
                        sealed.key_nonce,
                        sealed.key_id,
                        purpose,
                        source_id,
                        generation,
                        parameter,
                    )

        try:
            await insert(await self.keys.vault())
        except VaultKeyReplaced:
            await insert(await self.keys.reload())
        return secret_id
