"""Thirty texts that would run as scripts, in every field the console shows: none runs, and no policy is violated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.model import uuid7
from tests.plugins.console import Site
from tests.web.payloads import PAYLOADS
from tests.web.uploading import upload

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.timeout(180)

# Noted before any script of the page runs.
WATCH = """
window.__executed = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.__executed.push('violated ' + event.violatedDirective + ' ' + event.blockedURI));
for (const name of ['alert', 'confirm', 'prompt']) window[name] = () => window.__executed.push(name);
"""


async def plant(site: Site) -> dict[str, Any]:
    """Every payload as the name, title, error or fact of something; returns where to look."""
    documents = []
    for payload in PAYLOADS:
        found = await upload(site, f"{payload}.txt".replace("/", "_"), f"{payload}\n\n# {payload}\n\nwater {payload}")
        documents.append(found["document_id"])
    async with site.server.client() as client:
        for payload in PAYLOADS:
            made = await client.post("/v1/keys", json={"name": payload, "scopes": ["search"]})
            assert made.status_code == 201, made.text
            body = {"page": "documents", "name": payload[:100], "query": f"?q={payload[:20]}"}
            await client.post("/v1/views", json=body)
            row = {"name": payload, "industry": payload, "summary": payload, "key_facts": {payload[:60]: payload}}
            assert (await client.post("/v1/clients", json=row)).status_code == 201
        clients = (await client.get("/v1/clients?limit=100")).json()["items"]
    tenant = site.server.tenant.tenant_id
    source = uuid7()
    async with site.server.database.connect("admin") as admin:
        project = await admin.fetchval("select project_id from accounts.project where tenant_id = $1 limit 1", tenant)
        for number, payload in enumerate(PAYLOADS):
            source_id = source if number == 0 else uuid7()
            await admin.execute(
                "insert into ingest.source (source_id, tenant_id, project_id, kind, name, account, status, status_message, config)"
                " values ($1, $2, $3, 'outlook', $4, $4, 'error', $4, $5)",
                source_id, tenant, project, payload, json.dumps({"path": payload}),
            )  # fmt: skip
            await admin.execute(
                "update ingest.document set title = $2, author = $2, external_id = $2, status = 'failed',"
                " reason_code = 'malformed', error_message = $2, warnings = array[$2], metadata = $3, parser = $2"
                " where document_id = $1",
                documents[number], payload, json.dumps({payload[:80]: payload}),
            )  # fmt: skip
            await admin.execute(
                "insert into ingest.decision (decision_id, tenant_id, source_id, stage, name, skip_reason, reasons,"
                " sender, subject, filename, external_id, version) values ($1, $2, $3, 1, $4, $4, $5, $4, $4, $4, $1::text, 'v')",
                uuid7(), tenant, source, payload, json.dumps([{"name": payload}]),
            )  # fmt: skip
            await admin.execute(
                "update accounts.audit set who = $1, target = $1 where audit_id ="
                " (select audit_id from accounts.audit order by audit_id limit 1 offset $2)",
                payload, number,
            )  # fmt: skip
    return {"documents": documents, "source": source, "clients": [each["client_id"] for each in clients]}


async def look(page: Page, path: str) -> None:
    await page.goto(path)
    await page.locator("h1").first.wait_for()
    await page.wait_for_load_state("networkidle")
    # Hovering and focusing fire what a loaded page may not have fired yet.
    for name in ("main a", "main button"):
        if await page.locator(name).count():
            await page.locator(name).first.focus()
    executed = await page.evaluate("window.__executed")
    assert executed == [], path
    planted = await page.evaluate(
        "document.querySelectorAll('main script, main iframe, main object, main embed, main base, main math,"
        " [onerror], [onload], [onfocus], a[href^=\"javascript:\" i]').length"
    )
    assert planted == 0, path


async def test_no_text_that_is_shown_ever_runs(site: Site) -> None:
    planted = await plant(site)
    async with site.visit(tenant="acme", watch=False) as page:
        await page.add_init_script(WATCH)
        lists = (
            "/",
            "/documents",
            "/documents?status=failed",
            "/failures",
            "/tasks",
            "/queues",
            "/workers",
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
        for document in planted["documents"][::5]:
            await look(page, f"/documents/{document}?chunk=0")
        for client in planted["clients"][::6]:
            await look(page, f"/clients/{client}")
        for payload in PAYLOADS[:6]:
            await look(page, f"/documents?q={payload.replace('#', '%23').replace('%', '%25')}")
        # It is there as text.
        await page.goto("/access/keys")
        await page.get_by_text(PAYLOADS[0], exact=True).first.wait_for()
