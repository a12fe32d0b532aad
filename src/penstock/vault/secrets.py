"""Secrets of tenants in the database: sealed before they go in, opened after they come out."""

from __future__ import annotations

from uuid import UUID

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.model.ids import uuid7
from penstock.vault.sealing import Sealed, Vault


class Secrets:
    """Puts and gets secrets inside the caller's transaction, which is the tenant's."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def put(self, conn: Connection, tenant_id: UUID, name: str, plaintext: bytes) -> UUID:
        """Store a secret and return its id; a change is a new secret, and then the pointer swings."""
        secret_id = uuid7()
        sealed = self._vault.seal(tenant_id, secret_id, name, plaintext)
        with translated():
            await conn.execute(
                "select vault.put_secret($1, $2, $3, $4, $5, $6, $7)",
                secret_id,
                name,
                sealed.ciphertext,
                sealed.nonce,
                sealed.wrapped_key,
                sealed.key_nonce,
                sealed.key_id,
            )
        return secret_id

    async def get(self, conn: Connection, tenant_id: UUID, secret_id: UUID) -> bytes:
        """The plaintext; NotFound when the tenant has none of this id."""
        with translated():
            row = await conn.fetchrow("select * from vault.get_secret($1)", secret_id)
        assert row is not None  # the function raises when there is none
        sealed = Sealed(row["ciphertext"], row["nonce"], row["wrapped_key"], row["key_nonce"], row["key_id"])
        return self._vault.open(tenant_id, secret_id, row["name"], sealed)

    async def drop(self, conn: Connection, secret_id: UUID) -> bool:
        """Remove a secret; false when the tenant has none of this id."""
        with translated():
            return await conn.fetchval("select vault.drop_secret($1)", secret_id) is True
