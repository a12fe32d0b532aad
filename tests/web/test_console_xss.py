"""Thirty texts that would run as scripts, in every field the console shows: none runs anywhere."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.model import uuid7
from tests.integration.failed_processes import failed_process
from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.plugins.workers import eventually
from tests.web.payloads import PAYLOADS
from tests.web.settling import COUNT_REQUESTS, settled
from tests.web.uploading import upload

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.timeout(300)

# Noted before any script of the page runs.
WATCH = """
window.__executed = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.__executed.push('violated ' + event.violatedDirective + ' ' + event.blockedURI));
for (const name of ['alert', 'confirm', 'prompt']) window[name] = () => window.__executed.push(name);
"""


SOURCE = """
insert into ingest.source
  (source_id, tenant_id, project_id, kind, name, account, status, status_message, config,
   created_at, updated_at)
select $1, $2, p.project_id, 'outlook', $3, $3, 'error', $3, $4, now(), now()
from accounts.project p where p.tenant_id = $2 limit 1
"""
FAIL = """
update ingest.document set title = $2, author = $2, external_id = $2, status = 'failed',
  reason_code = 'malformed', fingerprint = md5($2), error_message = $2,
  warnings = array[$2], metadata = $3, parser = $2
where document_id = $1
"""
DECIDE = """
insert into ingest.decision (decision_id, tenant_id, source_id, stage, verdict, name, skip_reason, reasons,
  sender, subject, filename, external_id, version, decided_at)
values ($1, $2, $3, 1, 'drop', $4, $4, $5, $4, $4, $4, $4, 'v', now())
"""
# Names of queues and processes are plain by a constraint: no payload can become one.
WORKER = """
insert into queues.worker (worker_name, queue_names, lease_for, started_at, beat_at, stopped_at, versions)
values ($1, '{many}', '15 s', now(), now(), now(), jsonb_build_object($1::text, $1::text))
"""
SCHEDULE = """
insert into queues.schedule (schedule_name, cron, timezone, task_type, enabled, next_at)
values ($1, '0 0 1 1 *', $1, $1, false, now())
"""
OPERATION = """
insert into ingest.operation (operation_id, tenant_id, action, filter, state, expected_count, total, skipped,
  failed, reasons, started_by, started_at, updated_at, finished_at, error)
values ($1, $2, 'documents.retry', jsonb_build_object('q', $3::text), 'failed', 2, 2, 1, 1,
  jsonb_build_object('skipped', jsonb_build_object($3::text, 1), 'failed', jsonb_build_object($3::text, 1)),
  $3, now(), now(), now(), $3)
"""
OPERATION_ITEM = """
insert into ingest.operation_item (operation_id, ordinal, tenant_id, item, outcome, reason)
values ($1, 0, $2, $3, 'failed', $3)
"""
FAILED_ATTEMPT = """
with attempt as (
  insert into comms.send_sms_attempt (tenant_id, send_sms_task_id, task_id, created_at)
  values ($1, $2, 0, now()) returning send_sms_attempt_id)
insert into comms.send_sms_attempt_failed
  (send_sms_attempt_id, tenant_id, error_message, retriable, created_at)
select send_sms_attempt_id, $1, $3, true, now() from attempt
"""
SESSION = """
insert into accounts.session
  (session_id, tenant_id, token_sha256, name, role, created_at, seen_at, expires_at)
values ($1, $2, sha256(convert_to($3, 'UTF8')), $3, 'viewer', now(), now(), now() + interval '1 hour')
"""
AUDIT = """
insert into accounts.audit_entry
  (audit_id, tenant_id, at, who, role, via, action, target, status, detail, request_id)
values ($1, $2, now(), $3, 'admin', 'key', $3, $3, 200, '{}', $3)
"""


async def plant(site: Site) -> dict[str, Any]:
    """Every payload as the name, title, error or fact of something of a tenant of its own; where to look."""
    tenant, key = await site.server.another_tenant("mallory")
    async with site.server.client(key) as client:

        async def plant_one(payload: str) -> str:
            named = f"{payload}.txt".replace("/", "_")
            found = await upload(site, named, f"{payload}\n\n# {payload}\n\nwater {payload}", key=key)
            view = {"page": "documents", "name": payload[:100], "query": f"?q={payload[:20]}"}
            texts = dict.fromkeys(("name", "industry", "summary"), payload)
            for path, body in (
                ("/v1/keys", {"name": payload, "scopes": ["search"]}),
                ("/v1/views", view),
                ("/v1/clients", {**texts, "key_facts": {payload: payload}}),
            ):
                answer = await client.post(path, json=body)
                assert answer.status_code == 201, answer.text
            return str(found["document_id"])

        documents = await asyncio.gather(*(plant_one(payload) for payload in PAYLOADS))
        clients = (await client.get("/v1/clients?limit=100")).json()["items"]
    sources = [uuid7() for _ in PAYLOADS]
    operations: list[Any] = []
    processes: list[str] = []
    async with site.server.database.connect("admin") as admin:
        for source, document, payload in zip(sources, documents, PAYLOADS, strict=True):
            await admin.execute(SOURCE, source, tenant.tenant_id, payload, json.dumps({"path": payload}))
            await admin.execute(FAIL, document, payload, json.dumps({payload: payload}))
            reasons = json.dumps([{"name": payload}])
            await admin.execute(DECIDE, uuid7(), tenant.tenant_id, sources[0], payload, reasons)
            await admin.execute(AUDIT, uuid7(), tenant.tenant_id, payload)
            await admin.execute(WORKER, payload)
            await admin.execute(SCHEDULE, payload)
            await admin.execute(SESSION, uuid7(), tenant.tenant_id, payload)
            operations.append(uuid7())
            await admin.execute(OPERATION, operations[-1], tenant.tenant_id, payload)
            await admin.execute(OPERATION_ITEM, operations[-1], tenant.tenant_id, payload)
            processes.append(await failed_process(admin, tenant.tenant_id, payload))
            await admin.execute(FAILED_ATTEMPT, tenant.tenant_id, int(processes[-1].split("/")[1]), payload)
        await admin.execute(
            "update accounts.tenant set name = $2 where tenant_id = $1", tenant.tenant_id, PAYLOADS[4]
        )
        await admin.execute(
            "update queues.queue set paused_at = now(), paused_by = $1 where queue_name = 'many'", PAYLOADS[1]
        )
    await site.tasks.bill.enqueue_many([Report(month=each) for each in PAYLOADS], tenant_id=tenant.tenant_id)
    async with site.server.client(key) as client:
        dead: list[dict[str, Any]] = []

        async def all_dead() -> bool:
            dead[:] = (await client.get("/v1/tasks?state=dead&limit=100")).json()["items"]
            return len(dead) == len(PAYLOADS)

        await eventually(all_dead, within=60, what="every task failed with its payload in the message")
        groups = (await client.get("/v1/failures")).json()["items"]
    assert groups
    return {
        "source": sources[0],
        "one": [
            *(f"/documents/{document}?chunk=0" for document in documents[::5]),
            *(f"/clients/{each['client_id']}" for each in clients[::6]),
            *(f"/failures/{group['group_id']}" for group in groups[:4]),
            *(f"/tasks/{each['task_id']}" for each in dead[::10]),
            *(f"/operations/{each}" for each in operations[::10]),
            *(f"/processes/{each}" for each in processes[::10]),
            "/queues/many",
        ],
    }


async def look(page: Page, path: str, *, load: bool = False) -> None:
    await settled(page, path, load=load)
    # Hovering and focusing fire what a loaded page may not have fired yet.
    for name in ("main a", "main button"):
        if await page.locator(name).count():
            await page.locator(name).first.focus()
    executed = await page.evaluate("window.__executed")
    assert executed == [], path
    planted = await page.evaluate(
        "document.querySelectorAll('main script, main iframe, main object, main embed, main base, main math,"
        ' [onerror], [onload], [onfocus], a[href^="javascript:" i]\').length'
    )
    assert planted == 0, path


async def test_no_text_that_is_shown_ever_runs(site: Site) -> None:
    planted = await plant(site)
    async with site.visit(tenant="mallory", watch=False) as page:
        await page.add_init_script(WATCH)
        await page.add_init_script(COUNT_REQUESTS)
        lists = (
            "/",
            "/documents",
            "/documents?status=failed",
            "/failures",
            "/tasks",
            "/tasks?state=dead",
            "/queues",
            "/workers",
            "/schedules",
            "/inlets",
            "/processes",
            "/operations",
            "/search?q=water",
            "/search?q=%3Cscript%3Ealert(1)%3C/script%3E&compare=1",
            "/sources",
            "/sources/skipped",
            f"/sources/{planted['source']}",
            "/clients",
            "/access/keys",
            "/access/sessions",
            "/access/audit",
        )
        for path in lists:
            await look(page, path)
        for path in planted["one"]:
            await look(page, path)
        for payload in PAYLOADS[:6]:
            path = f"/documents?q={payload.replace('#', '%23').replace('%', '%25')}"
            await look(page, path, load=True)  # the server sees it too
        # They are there as text.
        for path in ("/access/keys", "/workers", "/schedules", "/processes", "/operations"):
            await page.goto(path)
            await page.get_by_text(PAYLOADS[1]).first.wait_for()
    async with site.visit(watch=False) as page:
        await page.add_init_script(WATCH)
        await page.add_init_script(COUNT_REQUESTS)
        for path in (
            "/access/tenants",
            "/access/sessions",
            "/access/audit",
            "/processes",
            "/tasks?state=dead",
        ):
            await look(page, path)
