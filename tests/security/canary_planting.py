"""Plants a canary in every field a tenant can fill: through the engine, where that has no way, by hand."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from penstock.accounts import Reply
from penstock.cli.demo.files import pdf
from penstock.db import Connection
from penstock.documents.pipeline_config import PipelineConfig
from penstock.model import Attachment, NoRetry, Parsed, uuid7
from penstock.pipeline.classify import Skip
from penstock.pipeline.job import Job
from penstock.worker import Context
from tests.integration.deleting import tenant_tables
from tests.plugins.documents import Works
from tests.plugins.smtp import MailServer
from tests.plugins.workers import eventually, working
from tests.security.canary import Canary

QUEUE = "sync"

COLUMNS = """
select a.attname as name, a.atttypid::regtype::text as type, a.attnotnull and a.attidentity = '' as required,
  (select e.enumlabel from pg_enum e where e.enumtypid = a.atttypid order by e.enumsortorder limit 1) as label
from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
"""
CLIENT = """
insert into ingest.client_intelligence (
  client_id, tenant_id, project_id, external_id, client_name, industry, summary, key_facts, embedding,
  embedding_model, created_at, updated_at)
select $1, p.tenant_id, p.project_id, $3, $4, $5, $6, $7, $8, $9, now(), now()
from accounts.project p where p.tenant_id = $2 limit 1
"""

NO_TENANT_TEXT = {
    "accounts.account_deletion_task.receipt_token_sha256": "a hash of a token we made",
    "accounts.account_flag.flag": "one of two words",
    "accounts.deletion_receipt.receipt": "written by the deletion itself, and searched after it",
    "accounts.deletion_receipt.receipt_sha256": "the same",
    "accounts.project.text_config": "a name of the server's own, checked against its catalogue",
    "ingest.source.kind": "a row of ingest.source_kind, which only migrations fill",
    "ingest.text_config_used.text_config": "the same",
    "files.file.blob_path": "made of an id of ours",
    "files.blob_intent.blob_path": "made of an id of ours",
    "files.blob_intent.origin": "ids of the server and the database",
    "ingest.document.identity": "one of three words",
    "ingest.client_fact.rollup": "one of four words",
    "ingest.client_key.origin": "one of four words",
    "ingest.connect_attempt.kind": "a row of internal.source_kind",
    "ingest.decision.verdict": "one of three words",
    "ingest.ingestion_job.kind": "one of two words",
    "ingest.revocation.outcome": "one of four words",
    "ingest.source_document.embedding_text_sha256": "a hash",
    "ingest.subscription.end_reason": "one of seven words",
    "vault.parameter.error_code": "a code of AWS",
    "vault.parameter.origin": "ids of the server and the database",
    "vault.parameter.parameter_name": "made of ids of ours",
    "vault.secret.parameter_name": "the same",
    "vault.secret.purpose": "one of a few words of ours",
    "internal.open_root.process": "a registered process",
    "queues.task.task_type": "a declared type",
    "queues.task_kept.task_type": "the same",
    "queues.dead_letter.task_type": "the same",
    "queues.dead_letter.reason": "one of three words",
    "queues.task.unique_key": "a hash",
    "queues.task.limit_key": "a hash",
    "queues.task_kept.unique_key": "a hash",
    "queues.task_kept.limit_key": "a hash",
    "queues.dead_letter.unique_key": "a hash",
    "queues.dead_letter.limit_key": "a hash",
    "queues.inlet.kind": "one of a few words",
    "queues.inlet.name": "an operator's word",
    "queues.inlet.task_types": "declared types",
    "queues.taken.key_hash": "a hash",
    "queues.parked.key": "a hash",
    "queues.waiting.wake_key": "a hash",
    "queues.error.fingerprint": "a hash",
    "queues.dead_letter.fingerprint": "a hash",
}
"""Columns no text of a tenant gets into, with the reason. Any other that is not planted fails the test."""

WORDS = {
    "ingest.bulk_run.shard_bytes": "1",
    "ingest.bulk_run.shard_documents": "1",
    "ingest.client_fact.rollup": "latest",
    "ingest.client_key.origin": "name",
    "ingest.connect_attempt.kind": "hubspot",
    "ingest.gate.allowed_loss": "0",
    "ingest.ingestion_job.kind": "full_sync",
}
"""What a row made by hand says where only some words may stand."""


@dataclass(slots=True)
class Judge:
    """A classifier that skips and fails by what it reads, and says so in the document's words."""

    def reads(self, job: Job) -> bool:
        return True

    async def classify(self, job: Job, parsed: Parsed) -> Skip | None:
        text = parsed.text
        if "boring" in text:
            return Skip(f"boring: {text[:60]}")
        if "unjudged" in text:
            raise LookupError(f"no rule for {text[:60]}")
        return None


@dataclass(slots=True)
class Sync:
    """A task of the tenant that runs until it is cancelled."""

    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@asynccontextmanager
async def planted(works: Works, mail: MailServer, canary: Canary) -> AsyncIterator[Sync]:
    """The tenant with the canary everywhere, a worker at work, and a sync of it in progress."""
    app, sync = works.engine.tasks, Sync()

    @app.task("sync-canary", queue=QUEUE)
    async def run_sync(payload: dict[str, Any], ctx: Context) -> None:
        await sync.run()

    @app.task("sync-dies", queue=QUEUE, max_attempts=1, retry=NoRetry())
    async def die(payload: dict[str, Any]) -> None:
        raise LookupError(payload["note"])

    async with working(app, {**works.engine.queues, QUEUE: 5}):
        await _plant_account(works, canary)
        await _plant_documents(works, canary)
        await _plant_messages(works, mail, canary)
        payload = {"note": canary.mark("payload")}
        tenant: dict[str, Any] = {"tenant_id": works.tenant_id}
        for _ in range(2):
            await die.enqueue(payload, **tenant)
        await run_sync.enqueue(payload, unique_key="k", on_duplicate="coalesce", **tenant)
        await sync.started.wait()
        await run_sync.enqueue(payload, unique_key="k", on_duplicate="coalesce", **tenant)
        await run_sync.enqueue(payload, delay=86_400, limit_key=canary.mark("limit"), **tenant)
        await eventually(lambda: works.value("select count(*) = 1 from queues.parked"), what="one is parked")
        dead = "select count(*) >= 2 from queues.dead_letter where task_type = 'sync-dies'"
        await eventually(lambda: works.value(dead), what="two are dead")
        async with works.database.connect("admin") as admin:
            await _plant_by_hand(admin, works, canary)
            await admin.execute("analyze")
        yield sync


async def _plant_account(works: Works, canary: Canary) -> None:
    engine, tenant_id, mark = works.engine, works.tenant_id, canary.mark
    await engine.accounts.set_tenant(tenant_id, name=mark("name"))
    await engine.accounts.create_project(tenant_id, mark("project"), mark("pname"))
    key = await engine.accounts.create_key(tenant_id, mark("key"), ["admin"])
    caller = await engine.accounts.authenticate(key.secret)
    await engine.replies.begin(caller, mark("idempotent"), bytes(32))
    await engine.replies.keep(caller, mark("idempotent"), Reply(200, {"told": mark("reply")}))
    await engine.completion_webhooks.put(tenant_id, f"http://127.0.0.1:9/{mark('hook')}")
    await engine.webhooks.rotate(tenant_id)


async def _plant_documents(works: Works, canary: Canary) -> None:
    mark = canary.mark
    await works.index(
        f"# {mark('title')}\n\nThe {mark('text')} of {mark('text')}.",
        f"{mark('filename')}.md",
        uploaded_by=mark("uploader"),
        external_id=mark("external"),
        metadata={mark("metadatakey"): mark("metadata")},
        source_metadata={"from": mark("sourcemetadata")},
        pipeline_config=PipelineConfig(language="german"),
    )
    await works.index(pdf(mark("title"), [[f"# {mark('heading')}", mark("words")]], author=mark("author")))
    # Words of two documents are counted, and a count that comes later finds the same.
    for number in range(2):
        await works.index(f"Number {number} of {mark('counted')}.", f"{number}.md")
    await works.value("select all_tenants.refresh_statistics()")
    mail = f"From: {mark('from')}@example.org\nSubject: {mark('subject')}\n\n{mark('mail')}\n"
    await works.index(mail, f"{mark('mail')}.eml")
    ends = {
        f"boring {mark('skipped')}": "skipped",
        f"unjudged {mark('failed')}": "failed",
        f"%PDF-1.7 {mark('broken')}": "failed",
    }
    for content, status in ends.items():
        taken = await works.hand_in(content, f"{mark(status)}.pdf" if "%PDF" in content else "note.md")
        assert (await works.settled(taken.document_id)).status == status
    deleted = await works.index(f"An earlier {mark('deleted')}.", f"{mark('deleted')}.md")
    await works.engine.documents.delete(works.tenant_id, deleted.document_id)


async def _plant_messages(works: Works, mail: MailServer, canary: Canary) -> None:
    mark = canary.mark
    refused = f"{mark('refused')}@example.org"
    mail.refused[refused] = f"550 {refused} is unknown here"
    for to in (f"{mark('to')}@example.org", refused):
        await works.engine.messages.send_email(
            works.tenant_id,
            to=[to],
            cc=[f"{mark('cc')}@example.org"],
            bcc=[f"{mark('bcc')}@example.org"],
            reply_to=f"{mark('reply')}@example.org",
            sender=f"{mark('sender')}@example.org",
            subject=mark("subject"),
            text=mark("text"),
            html=f"<p>{mark('html')}</p>",
            attachments=[Attachment(mark("attachment"), mark("content").encode(), "text/plain")],
        )
    await works.engine.messages.send_sms(works.tenant_id, to="+4930123456", text=mark("sms"))
    told = "select count(*) = 1 from comms.send_email_attempt_{}"
    for fact in ("succeeded", "failed"):
        await eventually(lambda fact=fact: works.value(told.format(fact)), what=f"one {fact}")  # type: ignore[misc]


async def _plant_by_hand(admin: Connection, works: Works, canary: Canary) -> None:
    """What no call reaches yet; a column of a table made tomorrow is found by the catalogue."""
    mark, tenant_id = canary.mark, works.tenant_id
    # A new project is refused an embedder that is not there.
    await admin.execute("update accounts.project set embedder = $1 where slug <> 'default'", mark("model"))
    await admin.execute(
        CLIENT,
        uuid7(),
        tenant_id,
        mark("externalclient"),
        mark("client"),
        mark("industry"),
        mark("summary"),
        json.dumps({"fact": mark("fact")}),
        struct.pack("<4e", 0.5, 0.5, 0.5, 0.5),
        mark("model"),
    )
    await admin.execute(
        "update queues.dead_letter set reason = 'quarantined' where task_id ="
        " (select min(task_id) from queues.dead_letter where task_type = 'sync-dies')"
    )
    # A large payload has a column of its own.
    await admin.execute(
        "select queues.enqueue('sync-dies', $1, '2100-01-01', _tenant_id => $2)",
        json.dumps({"note": mark("large"), "filler": "x" * 20_000}),
        tenant_id,
    )
    for payload in ("payload", "large_payload"):
        await admin.execute(
            "insert into queues.task_kept"
            ' select (jsonb_populate_record(null::queues.task_kept, to_jsonb(t) || \'{"kept_at": "now"}\')).*'
            " from queues.task t where t.task_type = 'sync-dies' and t.tenant_id = $1"
            f" and t.{payload} is not null limit 1",
            tenant_id,
        )
    await admin.execute(
        "select queues.put_inlet('canary', 'sqs', $1, $2, t.slug) from accounts.tenant t"
        " where t.tenant_id = $3",
        mark("inletsource"),
        json.dumps({"note": mark("inletconfig")}),
        tenant_id,
    )
    incoming = [
        {"key": mark("refusedkey"), "task_type": mark("refusedtype"), "payload": {}},
        {"key": mark("takenkey"), "task_type": "sync-dies", "payload": {"note": mark("incoming")}}
        | {"scheduled_at": "2100-01-01T00:00:00Z"},
    ]
    await admin.execute("select queues.take_in('canary', $1)", json.dumps(incoming))
    async with admin.transaction():
        await admin.execute("set local session_replication_role = replica")
        for table in await tenant_tables(admin):
            await _fill(admin, table, works, canary)
        await admin.execute(
            "update ingest.connect_attempt set used_at = now(), finished_at = now(), source_id = null,"
            " error_code = $1 where tenant_id = $2",
            mark("code"),
            tenant_id,
        )
        # Maintenance would embed an indexed document again with its own model, over what is planted in it.
        await admin.execute(
            "update ingest.document set fallback_embedder = case when status = 'failed' then $1 end"
            " where tenant_id = $2",
            mark("fallback"),
            tenant_id,
        )
        # Or the worker's maintenance, which may run at any moment, would drop the index that has no vectors.
        await admin.execute(
            "update ingest.text_statistics set tended_at = 'infinity', tended_threshold = $1"
            " where tenant_id = $2",
            works.engine.settings.exact_search_chunks,
            tenant_id,
        )


async def _fill(admin: Connection, table: str, works: Works, canary: Canary) -> None:
    columns = await admin.fetch(COLUMNS, table)
    texts = [
        column for column in columns if is_text(column["type"]) and place(table, column) not in NO_TENANT_TEXT
    ]
    if not texts:
        return
    if not await admin.fetchval(f"select count(*) from {table} where tenant_id = $1", works.tenant_id):
        required = [column for column in columns if column["required"]]
        names = ", ".join(column["name"] for column in required)
        values = ", ".join(
            f"'{word}'"
            if (word := WORDS.get(place(table, column), column["label"]))
            else _literal(works, column["name"], column["type"], canary)
            for column in required
        )
        await admin.execute(f"insert into {table} ({names}) values ({values})")
    for column in texts:
        rows = await admin.fetch(
            f"select {column['name']}::text from {table} where tenant_id = $1", works.tenant_id
        )
        if not any(row[0] is not None and canary.is_in(row[0]) for row in rows):
            await _mark(admin, table, column, works, canary)


async def _mark(admin: Connection, table: str, column: asyncpg.Record, works: Works, canary: Canary) -> None:
    name = column["name"]
    try:
        async with admin.transaction():
            await admin.execute(
                f"update {table} set {name} = {_literal(works, name, column['type'], canary)}"
                f" where (tableoid, ctid) in"
                f" (select tableoid, ctid from {table} where tenant_id = $1 limit 1)",
                works.tenant_id,
            )
    except asyncpg.IntegrityConstraintViolationError:
        return  # a text only some rows may have: what is not planted is told by name


def _literal(works: Works, name: str, type_: str, canary: Canary) -> str:
    if name == "tenant_id":
        return f"'{works.tenant_id}'"
    if type_.startswith("timestamp"):
        return "now()"
    samples = {
        "uuid": str(uuid7()),
        "text": canary.mark(name),
        "text[]": f"{{{canary.mark(name)}}}",
        "jsonb": json.dumps({"note": canary.mark(name)}),
        "bytea": f"\\x{canary.mark_bytes(name).hex()}",
        "tsvector": canary.mark(name),
        "date": "2026-01-01",
        "interval": "1 day",
        "boolean": "true",
        "halfvec": "[0.5, 0.5]",
        "bigint[]": "{7}",
    }
    if type_ in samples:
        return f"'{samples[type_]}'"
    return "'{}'" if type_.endswith("[]") else "-7"  # the id of nothing


def is_text(type_: str) -> bool:
    """Whether a column of this type can hold what somebody wrote."""
    return type_.removesuffix("[]") in (
        "text",
        "character varying",
        "json",
        "jsonb",
        "bytea",
        "tsvector",
        "xml",
    )


def place(table: str, column: asyncpg.Record) -> str:
    return f"{table}.{column['name']}"


async def text_columns(admin: Connection) -> set[str]:
    """Every column of every table of tenants that can hold text."""
    return {
        place(table, column)
        for table in await tenant_tables(admin)
        for column in await admin.fetch(COLUMNS, table)
        if is_text(column["type"])
    }
