"""One of each thing that has a page of its own, with long names, and where those pages are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from penstock.model import uuid7
from tests.integration.failed_processes import failed_process
from tests.integration.known_clients import NEW_SOURCE, know_clients
from tests.web.test_console_xss import DECIDE, FAILED_ATTEMPT, OPERATION, OPERATION_ITEM
from tests.web.uploading import handbook, upload

if TYPE_CHECKING:
    from penstock.accounts import Tenant
    from penstock.db import Connection
    from penstock.model import TenantId
    from tests.plugins.console import Site

LONG = "The-northern-subsidiary-with-all-of-its-annexes-and-appendices-" * 3
SYNC = """
insert into ingest.ingestion_job (job_id, tenant_id, source_id, kind, reason, status, pending_seq,
  items_written, items_unchanged, items_failed, error_code, error_message, error_details, started_at,
  updated_at, finished_at)
values ($1, $2, $3, 'full_sync', 'scheduled', 'failed', 1, 1234567, 1234567, 1234567, 'unavailable', $4,
  jsonb_build_array(jsonb_build_object('message', $4::text)), now(), now(), now())
"""
STREAM = """
insert into ingest.source_stream (source_id, stream, tenant_id, expected, left_out, completed_at, updated_at)
values ($1, $2, $3, 1234567, 1234567, now(), now())
"""
# Paused: nobody is to read it.
INLET = """
insert into queues.inlet (name, kind, source, tenant_id, enabled, retention, created_at)
values ($1, 'pgmq', $2, $3, false, interval '1 day', now())
"""
REFUSAL = """
insert into queues.inlet_refusal (inlet_id, at, message_key, reason)
select inlet_id, now(), $2, $2 from queues.inlet where name = $1
"""
RUN = """
insert into ingest.bulk_run (run_id, tenant_id, project_id, embedder, switches, settings, engine, state,
  shard_documents, shard_bytes, reason, started_by, started_at, updated_at)
values ($1, $2, $3, $4, true, 's', 'ray', 'running', 1, 1, $4, $4, now(), now())
"""
EVALUATION = """
insert into ingest.gate_evaluation (evaluation_id, tenant_id, project_id, run_id, gate_version, settings,
  from_embedder, to_embedder, mode, allowed_loss, state, questions, ndcg_before, ndcg_after, worse,
  worse_count, created_at, evaluated_at)
values ($1, $2, $3, $4, 1, 's', 'a', 'b', 'block', 0.1, 'failed', 5, 1, 0.5, $5, 5, now(), now())
"""
PROJECT = "select project_id from accounts.project where tenant_id = $1"
RUNNING = """
insert into ingest.operation (operation_id, tenant_id, action, filter, state, expected_count, total,
  started_by, started_at, updated_at)
values ($1, $2, 'documents.retry', '{}', 'running', 2, 2, 'anna', now(), now())
"""


async def one_of_each(admin: Connection, tenant: Tenant) -> dict[str, Any]:
    """A source with syncs, streams, rules and skipped mail; clients; a process, an operation, an inlet."""
    tenant_id, inlet = tenant.tenant_id, f"orders-{tenant.slug}"
    source, operation = uuid7(), uuid7()
    await admin.execute(NEW_SOURCE, source, tenant_id, "outlook")
    for _ in range(2):
        await admin.execute(SYNC, uuid7(), tenant_id, source, LONG)
    await admin.execute(STREAM, source, LONG, tenant_id)
    await admin.execute(DECIDE, uuid7(), tenant_id, source, LONG, "[]")
    await know_clients(admin, tenant_id)
    await admin.execute(OPERATION, operation, tenant_id, LONG)
    await admin.execute(OPERATION_ITEM, operation, tenant_id, LONG)
    process = await failed_process(admin, tenant_id)
    await admin.execute(FAILED_ATTEMPT, tenant_id, int(process.split("/")[1]), LONG)
    await admin.execute(INLET, inlet, f"pgmq:{tenant.slug}:{LONG}", tenant_id)
    await admin.execute(REFUSAL, inlet, LONG)
    return {"source": source, "operation": operation, "process": process, "inlet": inlet}


async def hold_at_gate(
    admin: Connection, tenant_id: TenantId, project_id: Any, questions: list[str], text: str
) -> Any:
    """A re-index of the project that waits because these questions got worse; its id."""
    run = uuid7()
    worse = [{"question": each, "before": 1.0, "after": 0.5, "documents": [each]} for each in questions]
    await admin.execute(RUN, run, tenant_id, project_id, text)
    await admin.execute(EVALUATION, uuid7(), tenant_id, project_id, run, json.dumps(worse))
    return run


async def details(site: Site, tenant: Tenant, key: str, task: int) -> tuple[dict[str, Any], list[str]]:
    """The ids of what a new tenant has one of each of, and the paths of its pages."""
    document = await upload(site, f"{LONG[:100]}.pdf", handbook(), "application/pdf", key=key)
    broken = await upload(site, "broken.pdf", b"%PDF-1.4 broken", "application/pdf", key=key)
    async with site.server.client(key) as client:
        made = await client.post("/v1/clients", json={"name": LONG, "key_facts": {LONG: LONG}})
        assert made.status_code == 201, made.text
        groups = (await client.get("/v1/failures")).json()["items"]
    async with site.server.database.connect("admin") as admin:
        known = await one_of_each(admin, tenant)
        project = await admin.fetchval(PROJECT, tenant.tenant_id)
        run = await hold_at_gate(admin, tenant.tenant_id, project, [LONG], LONG)
        running = uuid7()
        await admin.execute(RUNNING, running, tenant.tenant_id)
    known |= {
        "document": document["document_id"],
        "client": made.json()["client_id"],
        "task": task,
        "run": run,
        "running": running,
    }
    return known, [
        f"/documents/{document['document_id']}?chunk=1",
        f"/documents/{broken['document_id']}",
        f"/sources/{known['source']}",
        f"/clients/{known['client']}",
        f"/tasks/{task}",
        f"/tasks/{task}/compare",
        "/queues/reports",
        *(f"/failures/{group['group_id']}" for group in groups),
        f"/processes/{known['process']}",
        "/operations",
        f"/operations/{known['operation']}",
        f"/operations/{running}",
        f"/inlets/{known['inlet']}",
    ]
