"""The thirty texts in what only detail pages show: syncs, senders, inlets, gates, compared attempts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.model import uuid7
from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.plugins.workers import eventually
from tests.web.acting import dead_letters
from tests.web.detail_pages import STREAM, SYNC, hold_at_gate
from tests.web.payloads import PAYLOADS
from tests.web.settling import COUNT_REQUESTS
from tests.web.test_console_xss import SOURCE, WATCH, look
from tests.web.uploading import upload

if TYPE_CHECKING:
    from playwright.async_api import Page

    from penstock.db import Connection
    from penstock.model import TenantId

pytestmark = pytest.mark.timeout(300)

ALL = json.dumps({payload: payload for payload in PAYLOADS})
PROJECT = """
insert into accounts.project (project_id, tenant_id, slug, name, embedder, created_at)
values ($1, $2, $3, $4, $4, now())
"""
INGESTION = """
insert into ingest.ingestion (ingestion_id, tenant_id, document_id, uploaded_by, source_metadata, status,
  error_code, error_message, created, created_at, finished_at)
values ($1, $2, $3, $4, $5, 'failed', $4, $4, false, now(), now())
"""
INLET = """
insert into queues.inlet (name, kind, source, tenant_id, task_types, enabled, retention, created_at)
values ($1, 'pgmq', $2, $3, $4, false, interval '1 day', now()) returning inlet_id
"""
HOLD = """
insert into queues.inlet_hold (inlet_id, holder, held_since, held_until, error)
values ($1, $2, now(), now() + interval '1 hour', $2)
"""
REFUSAL = """
insert into queues.inlet_refusal (inlet_id, at, message_key, reason, tenant_id) values ($1, now(), $2, $2, $3)
"""
WORKER = """
insert into queues.worker (worker_name, queue_names, lease_for, started_at, beat_at, stopped_at, versions)
values ($1, '{many}', '15 s', now(), now(), now(), $2) returning worker_id
"""
# The errors of one task's two attempts, and who ran them.
BLAME = """
with named as (
  update queues.attempt set worker_id = $2 where task_id = $1)
update queues.error set error_code = $3 || error_id, error_message = $4 || error_id, details = $5
where task_id = $1
"""
MISSING = """(texts) => {
  const shown = document.querySelector('main').textContent;
  return texts.filter((text) => !shown.includes(text));
}"""


async def plant_sources(admin: Connection, tenant_id: TenantId) -> list[str]:
    """Three sources with ten failed syncs and ten streams each, and mailboxes with every sender."""
    paths = []
    for first in range(0, len(PAYLOADS), 10):
        source = uuid7()
        rules = {
            "allow_senders": PAYLOADS[first : first + 5],
            "block_senders": PAYLOADS[first + 5 : first + 10],
        }
        await admin.execute(
            SOURCE, source, tenant_id, PAYLOADS[first], json.dumps({"rules": rules, "path": PAYLOADS[first]})
        )
        for payload in PAYLOADS[first : first + 10]:
            await admin.execute(SYNC, uuid7(), tenant_id, source, payload)
            await admin.execute(STREAM, source, payload, tenant_id)
        paths.append(f"/sources/{source}")
    return paths


async def plant_inlets(admin: Connection, tenant_id: TenantId) -> list[str]:
    for place, payload in enumerate(PAYLOADS):
        inlet = await admin.fetchval(INLET, f"hostile-{place}", payload, tenant_id, list(PAYLOADS))
        await admin.execute(HOLD, inlet, payload)
        for refused in PAYLOADS:
            await admin.execute(REFUSAL, inlet, refused, tenant_id)
    return [f"/inlets/hostile-{place}" for place in range(0, len(PAYLOADS), 6)]


async def plant_gates(admin: Connection, tenant_id: TenantId) -> None:
    """A project for each payload; five of them re-index, and five questions of each got worse."""
    for place, payload in enumerate(PAYLOADS):
        project = uuid7()
        await admin.execute(PROJECT, project, tenant_id, f"hostile-{place}", payload)
        if place >= len(PAYLOADS) - 5:
            asked = PAYLOADS[(place - 25) * 5 :][:5]
            await hold_at_gate(admin, tenant_id, project, list(asked), payload)


async def plant(site: Site) -> dict[str, Any]:
    tenant, key = await site.server.another_tenant("trudy")
    tenant_id = tenant.tenant_id
    await site.tasks.report.enqueue(Report(month="x"), tenant_id=tenant_id)
    listed = "\n\n".join(PAYLOADS)
    text = await upload(site, "plain.txt", listed, key=key)
    marked = await upload(site, "marked.md", f"# Water\n\n{listed}", "text/markdown", key=key)
    page = await upload(site, "page.html", f"<h1>Water</h1>{listed}", "text/html", key=key)
    async with site.server.client(key) as client:
        for payload in PAYLOADS:
            view = {"page": "documents", "name": payload[:100], "query": f"?q={payload[:20]}"}
            answer = await client.post("/v1/views", json=view)
            assert answer.status_code == 201, answer.text
    (task,) = await dead_letters(site, key, 1)
    async with site.server.database.connect("admin") as admin:
        for payload in PAYLOADS:
            await admin.execute(
                INGESTION,
                uuid7(),
                tenant_id,
                text["document_id"],
                payload,
                json.dumps({payload: payload}),
            )
            await admin.execute(WORKER, f"trudy {payload}", "{}")
        worker = await admin.fetchval(WORKER, PAYLOADS[0], ALL)
        blame = json.dumps({"frames": list(PAYLOADS)})
        await admin.execute(BLAME, task, worker, "\n".join(PAYLOADS), listed, blame)
        sources = await plant_sources(admin, tenant_id)
        inlets = await plant_inlets(admin, tenant_id)
        await plant_gates(admin, tenant_id)
    return {
        "text": f"/documents/{text['document_id']}",
        "documents": [f"/documents/{each['document_id']}?view=text" for each in (marked, page)],
        "task": f"/tasks/{task}",
        "sources": sources,
        "inlets": inlets,
    }


async def literal(page: Page, path: str, texts: tuple[str, ...] = PAYLOADS) -> None:
    """Nothing runs on the page, and each of these is on it as it is."""
    await look(page, path)

    async def all_there() -> bool:
        return bool(await page.evaluate(MISSING, list(texts)) == [])

    await eventually(all_there, what=f"all are shown on {path}")


async def test_no_text_of_a_detail_page_ever_runs_and_each_is_shown_as_it_is(site: Site) -> None:
    planted = await plant(site)
    async with site.visit(tenant="trudy", watch=False, viewport={"width": 1280, "height": 2400}) as page:
        await page.add_init_script(WATCH)
        await page.add_init_script(COUNT_REQUESTS)
        # The names of projects are options of a list on each of these.
        for path in ("/upload", "/sources/connect", "/search?q=water"):
            await literal(page, path)
        await literal(page, f"{planted['text']}?view=text")  # the text, and what was sent with the document
        for path in planted["documents"]:
            await look(page, path)
        for place, path in enumerate(planted["sources"]):
            await look(page, path)
            for details in await page.get_by_role("table", name="Last syncs").get_by_role("button").all():
                await details.click()  # what failed, item by item
            shown = PAYLOADS[place * 10 :][:10]
            assert await page.evaluate(MISSING, list(shown)) == [], path
            assert await page.evaluate("window.__executed") == [], path
        for path in planted["inlets"]:
            await literal(page, path)
        await literal(page, "/operations", PAYLOADS[:25])
        await literal(page, planted["task"])
        await literal(page, f"{planted['task']}/compare")
        await literal(page, "/workers?q=trudy", tuple(f"trudy {payload}" for payload in PAYLOADS))
        await look(page, "/documents")
        await page.get_by_role("button", name="Saved views").click()
        names = await page.locator(".menu-list .menu-item bdi").all_text_contents()
        assert set(PAYLOADS) <= set(names)
        await page.locator(".menu-list .menu-item").nth(5).click()
        await page.wait_for_url("**/documents?q=*")
        assert await page.evaluate("window.__executed") == []
