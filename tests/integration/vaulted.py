"""A tenant with secrets, the pools of the runtime and the operator, and key rings as processes have them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.db import Record
from penstock.db.tenancy import TenantPool
from penstock.model import TenantId, uuid7
from penstock.settings import Settings
from penstock.vault import KeyRing, Secrets
from penstock.vault.rotation import Rotation
from tests.plugins.database import Database


@dataclass(frozen=True, slots=True)
class Vaulted:
    database: Database
    settings: Settings
    runtime: TenantPool
    operator: TenantPool
    tenant_id: TenantId

    def process(self) -> Secrets:
        """The secrets as a process that starts now has them."""
        return Secrets(KeyRing.from_settings(self.settings, self.database.runtime_url))

    def rotation(self, **options: Any) -> Rotation:
        ring = KeyRing.from_settings(self.settings, self.database.url("operator"))
        return Rotation(ring, self.operator, **options)

    async def put(self, secrets: Secrets, plaintext: bytes) -> UUID:
        async with self.runtime.transaction(self.tenant_id) as conn:
            return await secrets.put(conn, self.tenant_id, "test", plaintext)

    async def get(self, secrets: Secrets, secret_id: UUID) -> bytes:
        async with self.runtime.transaction(self.tenant_id) as conn:
            return await secrets.get(conn, self.tenant_id, secret_id)

    async def rows(self) -> list[Record]:
        async with self.database.connect("admin") as admin:
            return await admin.fetch("select * from vault.secret order by secret_id")

    async def execute(self, query: str, *args: object) -> None:
        async with self.database.connect("admin") as admin:
            await admin.execute(query, *args)


@asynccontextmanager
async def vaulted(database: Database, settings: Settings) -> AsyncIterator[Vaulted]:
    tenant_id = TenantId(uuid7())
    runtime = await TenantPool.open(database.runtime_url, application_name="test", size=3)
    operator = await TenantPool.open(database.url("operator"), application_name="test", size=2)
    try:
        async with operator.all_tenants() as conn:
            await conn.execute(
                "select all_tenants.create_tenant($1, $2, 'acme', 'acme', 'wordllama')", tenant_id, uuid7()
            )
        yield Vaulted(database, settings, runtime, operator, tenant_id)
    finally:
        await runtime.close()
        await operator.close()
