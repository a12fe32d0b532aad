"""Thin wrappers around the document functions: one connection per role, one transaction per call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from penstock.db import Connection, Record
from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.clock import Clock

CODE = "parse1.chunk1"
"""The version of the code that would index."""

TASK_TYPES: dict[str, dict[str, object]] = {
    "ingest-document": {"max_attempts": 3, "on_duplicate": "coalesce"},
    "reindex-project": {"max_attempts": 10, "on_duplicate": "coalesce"},
    "reindex-shard": {"max_attempts": 10, "on_duplicate": "coalesce"},
    "evaluate-gate": {"max_attempts": 10, "on_duplicate": "coalesce"},
    "deliver-webhook": {},
    "delete-project": {"max_attempts": 20, "on_duplicate": "coalesce"},
    "sync-source": {"max_attempts": 5, "on_duplicate": "coalesce"},
    "delete-source": {"max_attempts": 20, "on_duplicate": "coalesce"},
    "operate": {"max_attempts": 10, "on_duplicate": "coalesce"},
    "revoke-tokens": {"max_attempts": 20, "on_duplicate": "coalesce"},
}


@dataclass(frozen=True, slots=True)
class Tenant:
    tenant_id: UUID
    slug: str
    project_id: UUID


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was begun: what fences its later calls."""

    document_id: UUID
    generation: int
    mode: str
    pipeline: str
    sha256: bytes


class DocumentCalls:
    """Calls as the runtime login for a tenant; the administrator looks at the tables."""

    def __init__(self, runtime: Connection, operator: Connection, admin: Connection, clock: Clock) -> None:
        self.runtime = runtime
        self.operator = operator
        self.admin = admin
        self.clock = clock

    async def create_tenant(self, slug: str, name: str | None = None, **limits: int) -> Tenant:
        tenant = Tenant(uuid7(), slug, uuid7())
        await call(
            self.operator,
            "all_tenants.create_tenant",
            tenant.tenant_id,
            tenant.project_id,
            slug,
            name or slug,
            "wordllama",
            **limits,
        )
        return tenant

    async def of(self, tenant: Tenant, function: str, *args: object, **named: object) -> Any:
        """The only value of a call in a transaction of the tenant; jsonb comes decoded."""
        rows = await self.rows(tenant, function, *args, **named)
        return decoded(rows[0][0]) if rows else None

    async def rows(self, tenant: Tenant, function: str, *args: object, **named: object) -> list[Record]:
        async with tenant_transaction(self.runtime, tenant):
            return await call(self.runtime, function, *args, **named)

    async def secret(self, tenant: Tenant) -> UUID:
        """A sealed secret of the tenant; what is sealed does not matter here."""
        return UUID(
            str(await self.of(tenant, "vault.put_secret", uuid7(), "tests", b"c", b"n", b"w", b"k", "1"))
        )

    async def webhook(self, tenant: Tenant) -> UUID:
        """The tenant's webhook source."""
        made = await self.of(tenant, "ingest.put_webhook_source", uuid7(), await self.secret(tenant))
        return UUID(made["source_id"])

    async def take_in(self, tenant: Tenant, content: bytes, **named: object) -> dict[str, Any]:
        """Take a document in without a blob, as Intake does with one."""
        named = {"uploaded_by": None if "source_id" in named else "tests", "project": "default"} | named
        answer = await self.of(
            tenant,
            "ingest.take_in",
            document_id=uuid7(),
            ingestion_id=uuid7(),
            file_id=uuid7(),
            content_sha256=hashlib.sha256(content).digest(),
            size_bytes=len(content),
            mime_type="text/plain",
            extension="txt",
            code_version=CODE,
            **named,
        )
        return cast("dict[str, Any]", answer)

    async def document(self, tenant: Tenant, content: bytes = b"one", **named: object) -> UUID:
        return UUID((await self.take_in(tenant, content, **named))["document_id"])

    async def begin(self, tenant: Tenant, document_id: UUID, task_id: int = 1) -> Run:
        plan = await self.of(tenant, "ingest.begin_run", document_id, task_id, 1, CODE)
        return Run(
            document_id,
            plan["generation"],
            plan["mode"],
            plan["pipeline"],
            bytes.fromhex(plan["content_sha256"]),
        )

    async def embed(self, tenant: Tenant, run: Run) -> bool:
        return cast(
            "bool", await self.of(tenant, "ingest.start_embedding", run.document_id, run.generation, {})
        )

    async def finish(self, tenant: Tenant, run: Run, facts: Mapping[str, object] | None = None) -> str:
        return cast(
            "str",
            await self.of(
                tenant,
                "ingest.finish_run",
                run.document_id,
                run.generation,
                run.mode,
                run.sha256,
                run.pipeline,
                {"counts": {"chunks": 1, "tokens": 2}, **(facts or {})},
                CODE,
            ),
        )

    async def index(
        self, tenant: Tenant, document_id: UUID, facts: Mapping[str, object] | None = None
    ) -> Run:
        """A whole run that puts no chunk down."""
        run = await self.begin(tenant, document_id)
        await self.embed(tenant, run)
        assert await self.finish(tenant, run, facts) == "indexed"
        return run

    async def status(self, document_id: UUID) -> str:
        return cast(
            "str",
            await self.admin.fetchval(
                "select status from ingest.document where document_id = $1", document_id
            ),
        )

    async def set_status(self, document_id: UUID, status: str) -> None:
        """Put a document into a state behind the functions' back."""
        await self.admin.execute(
            "update ingest.document set status = $2::ingest.document_status, live_generation = 0,"
            " deleted_at = case when $2 = 'deleted' then now() end where document_id = $1",
            document_id,
            status,
        )

    async def row(self, document_id: UUID) -> Record:
        row = await self.admin.fetchrow("select * from ingest.document where document_id = $1", document_id)
        assert row is not None
        return row

    async def events(self, document_id: UUID) -> list[Record]:
        return list(
            await self.admin.fetch(
                "select * from ingest.document_event where document_id = $1 order by event_id", document_id
            )
        )

    async def ingestions(self, document_id: UUID) -> list[Record]:
        return list(
            await self.admin.fetch(
                "select * from ingest.ingestion where document_id = $1 order by ingestion_id", document_id
            )
        )


def decoded(answer: object) -> object:
    if isinstance(answer, str) and answer[:1] in ("{", "["):
        return json.loads(answer)
    return answer


def encoded(argument: object) -> object:
    return json.dumps(argument) if isinstance(argument, dict) else argument


async def call(connection: Connection, function: str, *args: object, **named: object) -> list[Record]:
    """Call a function and return its rows; a name without its underscore is a named argument."""
    places = [f"${n}" for n in range(1, len(args) + 1)]
    places += [f"_{name} => ${n}" for n, name in enumerate(named, len(args) + 1)]
    values = [encoded(value) for value in (*args, *named.values())]
    return list(await connection.fetch(f"select * from {function}({', '.join(places)})", *values))


@asynccontextmanager
async def tenant_transaction(connection: Connection, tenant: Tenant) -> AsyncIterator[Connection]:
    async with connection.transaction():
        await connection.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant.tenant_id))
        yield connection


async def declare(runtime: Connection) -> None:
    """Declare the task types the functions enqueue."""
    for name, options in TASK_TYPES.items():
        await call(runtime, "queues.put_task_type", name, queue=name, **options)


@asynccontextmanager
async def document_calls(database: Database) -> AsyncIterator[DocumentCalls]:
    """One connection a role, the document task types, and a clock that stands still."""
    async with (
        database.connect("admin") as admin,
        database.connect("runtime") as runtime,
        database.connect("operator") as operator,
    ):
        clock = await Clock.install(admin)
        await declare(runtime)
        yield DocumentCalls(runtime, operator, admin, clock)
