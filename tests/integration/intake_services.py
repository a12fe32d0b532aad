"""Intake, documents and accounts on a test's database and a folder of blobs, without a worker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obstore.store import LocalStore

from penstock.accounts import Accounts
from penstock.blobs.spool import Spooled
from penstock.blobs.store import Blobs
from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.documents.documents import Documents
from penstock.documents.intake import Intake
from penstock.documents.rows import Taken
from penstock.model import DocumentId, TenantId
from penstock.settings import Settings
from tests.plugins.database import Database
from tests.sql.document_calls import CODE, declare


class WatchedBlobs(Blobs):
    """The real store; counts what is written, and can stop after a write, before the commit."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalStore(prefix=folder, mkdir=True), folder)
        self.folder = folder
        self.written: list[str] = []
        self.gate: asyncio.Event | None = None
        self.error: Exception | None = None
        """What the next write ends with."""

    async def write(self, path: str, spooled: Spooled) -> None:
        await super().write(path, spooled)
        self.written.append(path)
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    @property
    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}


@dataclass(frozen=True, slots=True)
class IntakeServices:
    database: Database
    settings: Settings
    tenants: TenantPool
    accounts: Accounts
    """As an operator, who may make tenants."""
    blobs: WatchedBlobs
    intake: Intake
    documents: Documents
    admin: Connection
    acme: TenantId

    async def upload(self, content: bytes, **options: Any) -> Taken:
        if "source_id" not in options:
            options.setdefault("uploaded_by", "tests")
        return await self.intake.take_in(options.pop("tenant_id", self.acme), pieces(content), **options)

    async def index(self, document_id: DocumentId, tenant_id: TenantId | None = None) -> None:
        """What a worker does, without reading anything."""
        async with self.tenants.transaction(tenant_id or self.acme) as conn:
            plan = json.loads(await conn.fetchval("select ingest.begin_run($1, 1, 1, $2)", document_id, CODE))
            await conn.execute("select ingest.start_embedding($1, $2, '{}')", document_id, plan["generation"])
            ended = await conn.fetchval(
                "select ingest.finish_run($1, $2, $3, $4, $5, $6, $7)",
                document_id,
                plan["generation"],
                plan["mode"],
                bytes.fromhex(plan["content_sha256"]),
                plan["pipeline"],
                '{"counts": {"chunks": 1, "tokens": 1}}',
                CODE,
            )
        assert ended == "indexed"

    async def value(self, query: str, *arguments: object) -> Any:
        return await self.admin.fetchval(query, *arguments)

    async def live_blobs(self) -> set[str]:
        """Where the originals of live documents must be."""
        rows = await self.admin.fetch(
            "select f.blob_path from ingest.document d join files.file f on f.file_id = d.file_id"
            " where d.deleted_at is null"
        )
        return {row[0] for row in rows}

    async def orphans(self) -> set[str]:
        """Blobs no file has; each must be one that was recorded before it was written."""
        files = {row[0] for row in await self.admin.fetch("select blob_path from files.file")}
        intents = {row[0] for row in await self.admin.fetch("select blob_path from files.blob_intent")}
        assert not files & intents
        assert self.blobs.files <= files | intents
        return self.blobs.files - files

    async def blob_of(self, document_id: DocumentId) -> str:
        return str(
            await self.value(
                "select f.blob_path from ingest.document d join files.file f using (file_id)"
                " where d.document_id = $1",
                document_id,
            )
        )


@asynccontextmanager
async def intake_services(database: Database, folder: Path, **settings: Any) -> AsyncIterator[IntakeServices]:
    chosen = Settings(data_dir=folder, **settings)
    tenants = await TenantPool.open(database.runtime_url, application_name="intake")
    operators = await TenantPool.open(database.operator_url, application_name="operators", size=2)
    try:
        async with database.connect("admin") as admin, database.connect("runtime") as runtime:
            await declare(runtime)
            accounts = Accounts(operators, chosen)
            blobs = WatchedBlobs(folder / "blobs")
            acme = (await accounts.create_tenant("acme")).tenant_id
            intake = Intake(tenants, blobs, chosen, CODE)
            documents = Documents(tenants, lambda: blobs)
            yield IntakeServices(database, chosen, tenants, accounts, blobs, intake, documents, admin, acme)
    finally:
        await tenants.close()
        await operators.close()


async def pieces(content: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]
