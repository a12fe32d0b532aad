"""Two tenants with rows in every tenant table, every text marked, so that a probe sees whose it found."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from penstock.db import Connection
from penstock.model import uuid7
from tests.plugins.database import Database
from tests.security.inlets_filled import fill_inlet
from tests.security.processes_filled import fill_processes
from tests.security.sources_filled import FilledSource, fill_source
from tests.sql.document_calls import (
    CODE,
    DocumentCalls,
    Run,
    Tenant,
    call,
    document_calls,
    tenant_transaction,
)

OWNERS = ("penstock_owner", "penstock_queue", "penstock_all_tenants")
QUEUE = "probe"
DIMENSIONS = 4

SCHEMAS_OF = """
select n.nspname::text as name
from pg_namespace n join pg_roles r on r.oid = n.nspowner
where r.rolname = any ($1)
order by 1
"""

TENANT_TABLES = """
select c.oid::regclass::text as name
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
join pg_namespace n on n.oid = c.relnamespace
join pg_roles r on r.oid = n.nspowner
where r.rolname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition
order by 1
"""

CLIENT = """
insert into ingest.client_intelligence (
  client_id, tenant_id, project_id, client_name, industry, summary, key_facts, embedding, embedding_model,
  created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now(), now())
"""


@dataclass(frozen=True, slots=True)
class Filled:
    """A tenant, the beginning of all its marks, and ids of what it owns.

    `number` is every number in the rows that no call makes: they point at each other and at nobody else's.
    """

    tenant: Tenant
    prefix: str
    number: int
    project: str
    project_id: UUID
    key_id: UUID
    session_id: UUID
    audit_id: UUID
    secret_id: UUID
    source_id: UUID
    connected: FilledSource
    document_id: UUID
    deleted_id: UUID
    generation: int
    ingestion_id: UUID
    file_id: UUID
    email_message_id: int
    sms_message_id: int
    task_id: int
    dead_task_id: int
    worker_id: int
    lease_id: int
    operation_id: UUID
    view_id: UUID
    run_id: UUID
    inlet: str

    def mark(self, field: str) -> str:
        return self.prefix + field

    def hash(self, field: str) -> bytes:
        return hashlib.sha256(self.mark(field).encode()).digest()

    def marks_in(self, text: str) -> set[str]:
        """All marks of this tenant in a text, also those written as hexadecimal digits."""
        hexadecimal = self.prefix.encode().hex()
        return set(re.findall(rf"{self.prefix}\w*", text)) | ({hexadecimal} if hexadecimal in text else set())


async def penstock_schemas(admin: Connection) -> list[str]:
    """Every schema of Penstock."""
    return [row["name"] for row in await admin.fetch(SCHEMAS_OF, list(OWNERS))]


async def tenant_schemas(admin: Connection) -> list[str]:
    """The schemas whose tables all belong to tenants; `internal` holds the machinery beside."""
    owned = [row["name"] for row in await admin.fetch(SCHEMAS_OF, ["penstock_owner"])]
    return [name for name in owned if name != "internal"]


async def tenant_tables(admin: Connection, *, queues: bool = False) -> list[str]:
    """The tables with a tenant_id, those of the queue only when asked for."""
    owners = ["penstock_owner", "penstock_queue"] if queues else ["penstock_owner"]
    return [row["name"] for row in await admin.fetch(TENANT_TABLES, owners)]


@asynccontextmanager
async def two_tenants(database: Database) -> AsyncIterator[tuple[DocumentCalls, Filled, Filled]]:
    """Ours and theirs, filled alike."""
    async with document_calls(database) as calls:
        await call(calls.runtime, "queues.put_task_type", "job", queue=QUEUE)
        ours, theirs = await fill(calls, "canarya", 1001), await fill(calls, "canaryb", 1002)
        for number in range(2):
            await call(calls.runtime, "all_tenants.refresh_statistics", 10)
            await call(calls.runtime, "all_tenants.tend_vector_indexes", 0)
            for filled in (ours, theirs):
                if number == 0:
                    await stage(calls, filled.prefix, filled.tenant, await another(calls, filled))
        for filled in (ours, theirs):
            await fill_the_rest(calls.admin, filled)
        yield calls, ours, theirs


async def another(calls: DocumentCalls, filled: Filled) -> Run:
    """A run in progress, of a document of its own."""
    document = await calls.document(filled.tenant, filled.mark("in progress").encode())
    return await calls.begin(filled.tenant, document)


async def fill(calls: DocumentCalls, prefix: str, number: int) -> Filled:
    def mark(field: str) -> str:
        return prefix + field

    tenant = await calls.create_tenant(mark("slug"), mark("name"), max_upload_bytes=10**6)
    project_id, key_id, secret_id, session_id, audit_id = (uuid7() for _ in range(5))
    project = (project_id, mark("project"), mark("projectname"), mark("embedder"), "simple")
    await calls.of(tenant, "accounts.create_project", *project)
    sealed = [mark(part).encode() for part in ("ciphertext", "nonce", "wrapped", "keynonce")]
    await calls.of(tenant, "vault.put_secret", secret_id, mark("secret"), *sealed, mark("vaultkey"))
    await calls.of(
        tenant,
        "accounts.set_tenant",
        {"webhook_url": f"https://{mark('hook')}.example", "webhook_secret_id": str(secret_id)},
    )
    key_hash = hashlib.sha256(mark("key").encode()).digest()
    await calls.of(tenant, "accounts.create_key", key_id, mark("keyname"), mark("pk"), key_hash, ["admin"])
    session_hash = hashlib.sha256(mark("session").encode()).digest()
    await calls.of(tenant, "accounts.start_session", session_id, session_hash, key_id)
    await calls.of(
        tenant, "accounts.begin_audit", audit_id, mark("who"), "admin", "key", mark("action"), mark("target"),
        None, {"fact": mark("auditfact")}, mark("request"),
    )  # fmt: skip
    await calls.of(tenant, "accounts.begin_reply", key_hash, key_hash)
    await calls.of(tenant, "accounts.keep_reply", key_hash, 200, {"reply": mark("reply")})
    source = await calls.of(tenant, "ingest.put_webhook_source", uuid7(), secret_id, mark("project"))
    source_id = UUID(source["source_id"])
    await calls.of(tenant, "ingest.note_webhook", source_id, key_hash)
    await calls.of(tenant, "accounts.note_usage", mark("embedder"), 3, 1, 1, 0)

    taken = await calls.take_in(
        tenant,
        mark("content").encode(),
        project=mark("project"),
        filename=mark("filename"),
        source_id=source_id,
        source_metadata={"from": mark("sourcemetadata")},
        metadata={"label": mark("metadata")},
        external_id=mark("external"),
    )
    document_id = UUID(taken["document_id"])
    run = await calls.begin(tenant, document_id, taken["task_id"])
    await calls.embed(tenant, run)
    await stage(calls, prefix, tenant, run)
    facts = {"title": mark("title"), "author": mark("author"), "warnings": [mark("warning")]}
    assert await calls.finish(tenant, run, facts) == "indexed"
    failed = await calls.begin(tenant, await calls.document(tenant, mark("failed").encode()))
    failure = (failed.document_id, failed.generation, "index", mark("code"), mark("message"), True)
    await calls.of(tenant, "ingest.fail_run", *failure)
    deleted = await calls.document(tenant, mark("deleted").encode())
    await calls.of(tenant, "ingest.delete_document", deleted)
    async with tenant_transaction(calls.admin, tenant):
        await calls.admin.execute(
            CLIENT, uuid7(), tenant.tenant_id, project_id, mark("client"), mark("industry"), mark("summary"),
            f'{{"fact": "{mark("fact")}"}}', halves(), mark("embedder"),
        )  # fmt: skip

    run_id = await fill_bulk(calls, prefix, tenant, document_id)
    operation_id, view_id = await fill_operations(calls, prefix, tenant, document_id)
    connected = await fill_source(calls, prefix, tenant, mark("project"))
    email, sms = await fill_processes(calls, prefix, tenant)
    worker_id, lease_id, task_id, dead = await fill_queue(calls, prefix, tenant)
    file_id = await calls.admin.fetchval("select file_id from files.file where document_id = $1", document_id)
    return Filled(
        inlet=await fill_inlet(calls, prefix, tenant, number),
        tenant=tenant,
        prefix=prefix,
        number=number,
        project=mark("project"),
        project_id=project_id,
        key_id=key_id,
        session_id=session_id,
        audit_id=audit_id,
        secret_id=secret_id,
        source_id=source_id,
        connected=connected,
        document_id=document_id,
        deleted_id=deleted,
        generation=run.generation,
        ingestion_id=UUID(taken["ingestion_id"]),
        file_id=file_id,
        email_message_id=email,
        sms_message_id=sms,
        task_id=task_id,
        dead_task_id=dead,
        worker_id=worker_id,
        lease_id=lease_id,
        operation_id=operation_id,
        view_id=view_id,
        run_id=run_id,
    )


async def fill_bulk(calls: DocumentCalls, prefix: str, tenant: Tenant, document_id: UUID) -> UUID:
    """A re-index with a shard that is held, and a document in work; its id. The project has a gate."""
    named = {"engine": "ray", "started_by": prefix + "startedby"}
    begun = await calls.of(tenant, "ingest.start_bulk", prefix + "project", **named)
    run_id = UUID(begun["run_id"])
    while await calls.of(tenant, "ingest.plan_bulk", run_id, CODE):
        pass
    await calls.of(tenant, "ingest.claim_shard", run_id, 0, prefix + "holder")
    job = await calls.of(tenant, "ingest.begin_bulk_document", run_id, 0, 1, document_id, CODE)
    assert job["mode"] == "stage"
    asked = json.dumps([{"question": prefix + "question", "documents": [prefix + "answer"]}])
    await calls.of(tenant, "ingest.set_gate", prefix + "project", asked, set_by=prefix + "setby")
    return run_id


async def fill_operations(
    calls: DocumentCalls, prefix: str, tenant: Tenant, document_id: UUID
) -> tuple[UUID, UUID]:
    """An operation whose items are chosen, and a saved view; their ids."""
    chosen = {"ids": [str(document_id)]}
    begun = await calls.of(
        tenant, "ingest.start_operation", "documents.reindex", chosen, 1, prefix + "startedby"
    )
    operation_id = UUID(begun["operation_id"])
    run = await calls.of(tenant, "ingest.begin_operation", operation_id, 1)
    assert await calls.of(tenant, "ingest.step_operation", operation_id, run) == "more"
    view = await calls.of(
        tenant, "accounts.put_view", "documents", prefix + "view", prefix + "viewquery", prefix + "viewer"
    )
    return operation_id, UUID(view["view_id"])


async def stage(calls: DocumentCalls, prefix: str, tenant: Tenant, run: Run) -> None:
    """One chunk with its cached embedding, and with its vector where the server has pgvector."""
    has_pgvector = await calls.admin.fetchval("select ingest.vector_schema() is not null")
    text, model = prefix + "chunk", prefix + "embedder"
    digest = hashlib.sha256(text.encode()).digest()
    await calls.of(
        tenant,
        "ingest.stage_chunks",
        run.document_id,
        run.generation,
        model,
        [0],
        [uuid7()],
        [f"{text} {prefix}common {prefix}common"],
        [3],
        [0],
        [9],
        [1],
        [1],
        f'[["{prefix}heading"]]',
        [digest],
        [vector()] if has_pgvector else None,
    )
    await calls.of(tenant, "ingest.keep_embeddings", model, [digest], [halves()], [3])


async def fill_queue(calls: DocumentCalls, prefix: str, tenant: Tenant) -> tuple[int, int, int, int]:
    """A dead letter, an open lease and a parked task; the ids of worker, lease and tasks."""
    payload = f'{{"note": "{prefix}payload"}}'

    async def enqueue(**options: object) -> int:
        return int(await calls.of(tenant, "queues.enqueue", "job", payload, **options))

    worker: int = await calls.runtime.fetchval(
        "select queues.register_worker('w', array[$1], interval '1 day')", QUEUE
    )
    dead = await enqueue()
    (lease,) = await call(calls.runtime, "queues.claim", worker, QUEUE, 1)
    ids, codes, texts = [lease["lease_id"]], [prefix + "errorcode"], [prefix + "error"]
    await call(calls.runtime, "queues.fail", worker, ids, codes, texts, final=[True])
    task = await enqueue(unique_key=prefix + "unique", on_duplicate="coalesce")
    (lease,) = await call(calls.runtime, "queues.claim", worker, QUEUE, 1)
    assert lease["task_id"] == task
    await enqueue(unique_key=prefix + "unique", on_duplicate="coalesce")
    queue_id = await calls.admin.fetchval("select queue_id from queues.queue where queue_name = $1", QUEUE)
    await call(calls.runtime, "queues.admit", queue_id)
    return worker, lease["lease_id"], task, dead


async def fill_the_rest(admin: Connection, filled: Filled) -> None:
    """A row in tables the calls above left empty, and a mark in texts they left out, new ones too."""
    async with admin.transaction():
        await admin.execute("set local session_replication_role = replica")
        for table in await tenant_tables(admin):
            owned = await admin.fetchval(
                f"select count(*) from {table} where tenant_id = $1", filled.tenant.tenant_id
            )
            columns = await admin.fetch(
                """
                select a.attname as name, a.atttypid::regtype::text as type, a.attnotnull as required,
                  (select e.enumlabel from pg_enum e where e.enumtypid = a.atttypid
                    order by e.enumsortorder limit 1) as label
                from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
                """,
                table,
            )
            if not owned:
                required = [c for c in columns if c["required"]]
                values = ", ".join(
                    f"'{c['label']}'" if c["label"] else _literal(filled, c["name"], c["type"])
                    for c in required
                )
                names = ", ".join(c["name"] for c in required)
                await admin.execute(f"insert into {table} ({names}) values ({values})")
            for column in columns:
                if column["type"] == "text" and not column["required"]:
                    await _mark(admin, table, column["name"], filled)


async def _mark(admin: Connection, table: str, column: str, filled: Filled) -> None:
    try:
        async with admin.transaction():
            await admin.execute(
                f"update {table} set {column} = $2 where tenant_id = $1 and {column} is null",
                filled.tenant.tenant_id,
                filled.mark(column.replace("_", "")),
            )
    except asyncpg.IntegrityConstraintViolationError:
        return  # a text that only some rows may have, and those have it


def _literal(filled: Filled, name: str, type_: str) -> str:
    known = {
        "tenant_id": filled.tenant.tenant_id,
        "project_id": filled.project_id,
        "document_id": filled.document_id,
        "evaluation_id": filled.run_id,
        "run_id": filled.run_id,
        "flag": "deleted",
        "rollup": "latest",
        "origin": "name",
        "kind": "full_sync",
    }
    if name in known:
        return f"'{known[name]}'"
    mark = filled.mark(name.replace("_", ""))
    if name.endswith("_sha256"):
        return f"sha256('{mark}')"
    samples = {
        "uuid": str(uuid7()),
        "text": mark,
        "bytea": "x",
        "jsonb": f'{{"note": "{mark}"}}',
        "boolean": "true",
        "interval": "1 day",
    }
    if type_ in samples:
        return f"'{samples[type_]}'"
    if type_.startswith(("timestamp", "date")):
        return "now()"
    return "'{}'" if type_.endswith("[]") else str(filled.number)


def vector() -> str:
    return f"[{','.join(['0.5'] * DIMENSIONS)}]"


def halves() -> bytes:
    return struct.pack(f"<{DIMENSIONS}e", *[0.5] * DIMENSIONS)
