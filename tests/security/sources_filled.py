"""A connected source of a tenant in the middle of a sync, with an item, its client and tokens, all marked."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from penstock.model import uuid7
from tests.sql.document_calls import CODE, DocumentCalls, Tenant

STREAM = "companies"


@dataclass(frozen=True, slots=True)
class FilledSource:
    """Ids of what belongs to the source; its texts begin with the tenant's prefix."""

    source_id: UUID
    job_id: UUID
    run: int
    client_id: UUID
    access_id: UUID
    verifier_id: UUID
    subscription_id: UUID
    decision_id: UUID


async def fill_source(calls: DocumentCalls, prefix: str, tenant: Tenant, project: str) -> FilledSource:
    def mark(field: str) -> str:
        return prefix + field

    def sha256(field: str) -> bytes:
        return hashlib.sha256(mark(field).encode()).digest()

    source_id = uuid7()
    config = json.dumps({"path": mark("path")})
    names = ("folder", mark("sourcename"), project, mark("account"), config)
    await calls.of(tenant, "ingest.add_source", source_id, *names)
    sealed = [mark(part).encode() for part in ("token", "nonce", "wrapped", "keynonce")]
    secrets = []
    for purpose in ("access_token", "refresh_token"):
        put = (uuid7(), mark(purpose), *sealed, mark("vaultkey"), purpose, source_id, 1)
        secrets.append(UUID(str(await calls.of(tenant, "vault.put_secret", *put))))
    access_id, refresh_id = secrets
    assert await calls.of(tenant, "ingest.set_tokens", source_id, access_id, refresh_id, None, None, None)
    job = await calls.of(tenant, "ingest.begin_sync", source_id, 1)
    job_id, run = UUID(job["job_id"]), job["run"]
    await calls.of(tenant, "ingest.open_stream", job_id, run, STREAM)
    item = mark("item")
    items = [
        {
            "n": 1,
            "external_id": item,
            "document_type": "hubspot.company",
            "payload": {"name": mark("payload")},
            "payload_sha256": sha256("payload").hex(),
            "map_version": 1,
            "title": mark("itemtitle"),
            "text": mark("itemtext"),
            "tokens": 1,
        }
    ]
    rest = ([None], mark("embedder"), mark("embedder"), CODE)
    await calls.of(tenant, "ingest.put_items", job_id, run, STREAM, json.dumps(items), *rest)
    fact = {
        "item": item,
        "client": item,
        "name": "client_name",
        "value": mark("clientname"),
        "rollup": "latest",
    }
    await calls.of(tenant, "ingest.put_facts", source_id, [item], json.dumps([fact]))
    dropped = {
        "external_id": mark("dropped"),
        "message_id": mark("mailid"),
        "name": mark("rule"),
        "skip_reason": mark("skipreason"),
        "reasons": [{"reason": mark("reason")}],
        "sender": mark("sender"),
        "subject": mark("subject"),
        "filename": mark("attachment"),
        "version": mark("version"),
    }
    await calls.of(tenant, "ingest.put_decisions", job_id, run, STREAM, json.dumps([dropped]))
    decision_id = await calls.admin.fetchval(
        "select decision_id from ingest.decision where source_id = $1", source_id
    )
    cursor = json.dumps({"after": mark("cursor")})
    await calls.of(tenant, "ingest.move_cursor", job_id, run, STREAM, cursor, False, 1, 0)
    verifier_id = await calls.secret(tenant)
    begun = ("hubspot", project, mark("requester"), f"https://{mark('redirect')}.example", verifier_id)
    await calls.of(tenant, "ingest.begin_connect", sha256("state"), *begun)
    subscription_id = uuid7()
    await calls.of(tenant, "ingest.begin_subscription", source_id, subscription_id, sha256("clientstate"))
    made = (mark("providerid"), datetime(2100, 1, 1, tzinfo=UTC), json.dumps({"address": mark("address")}))
    await calls.of(tenant, "ingest.put_subscription", subscription_id, *made)
    client_id = await calls.admin.fetchval(
        "select client_id from ingest.client_intelligence where source_id = $1", source_id
    )
    return FilledSource(
        source_id, job_id, run, client_id, access_id, verifier_id, subscription_id, decision_id
    )
