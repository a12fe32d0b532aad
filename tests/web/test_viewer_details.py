"""What a viewer meets on the pages of single things: nothing that acts, and an API that refuses the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.model import uuid7
from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.web.acting import dead_letters
from tests.web.detail_pages import details
from tests.web.settling import COUNT_REQUESTS, settled

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.timeout(300)

# Everything that can be pressed, chosen or typed into, apart from what only changes what is shown.
CONTROLS = """(harmless) => [...document.querySelectorAll(
  'main :is(button:not(.column-sort), a.button, select, textarea, input, [role=switch])')]
  .map((each) => each.getAttribute('aria-label') || each.labels?.[0]?.textContent || each.textContent)
  .filter((name) => !new RegExp(harmless).test(name.trim()))"""
HARMLESS = (
    r"^(Copy|Chunks|Parsed text|#|Page|Previous$|Next$|Download$|Compare|Show|Views|Saved views"
    r"|Filter|Clear|Sort|Schedules$|(First|Second) attempt|[\d,]+$)"
)
SEND = """async (calls) => Promise.all(calls.map(async ([method, path]) => [
  method + ' ' + path,
  (await fetch('/v1' + path, {
    method,
    headers: {'Content-Type': 'application/json'},
    body: method === 'DELETE' ? undefined : '{}',
  })).status,
]))"""


def actions(known: dict[str, Any]) -> list[tuple[str, str]]:
    """Every call that a button of these pages makes for somebody who may."""
    document, source = f"/documents/{known['document']}", f"/sources/{known['source']}"
    client, task, gate = f"/clients/{known['client']}", f"/tasks/{known['task']}", "/projects/default/gate"
    return [
        ("POST", f"{document}/retry"),
        ("POST", f"{document}/reindex"),
        ("DELETE", document),
        *(("POST", f"{task}/{verb}") for verb in ("reveal", "cancel", "run-now", "again")),
        ("POST", "/tasks"),
        ("POST", "/queues/reports/pause"),
        ("POST", "/queues/reports/resume"),
        ("PUT", "/queues/reports/limits"),
        *(("POST", f"{source}/{verb}") for verb in ("sync", "pause", "resume")),
        *(("PUT", f"{source}/{what}") for what in ("schedule", "config", "password")),
        ("PATCH", f"{source}/rules"),
        ("DELETE", source),
        ("POST", "/sources/webhook/rotate"),
        ("POST", f"{source}/decisions/{uuid7()}/restore"),
        ("POST", f"/decisions/{uuid7()}/restore"),
        *(("POST", f"{client}/{verb}") for verb in ("join", "split")),
        ("PATCH", client),
        ("DELETE", client),
        ("POST", "/clients"),
        ("POST", "/operations"),
        ("POST", f"/operations/{known['operation']}/cancel"),
        ("POST", f"/reindexes/{known['run']}/stop"),
        ("POST", f"{gate}/accept"),
        ("POST", f"{gate}/cancel"),
        ("POST", f"/inlets/{known['inlet']}/pause"),
        ("POST", f"/inlets/{known['inlet']}/resume"),
        ("POST", f"/processes/{known['process']}/retry"),
        ("POST", "/workers/1/stop"),
        ("POST", "/schedules/maintain-documents/run"),
        ("PATCH", "/schedules/maintain-documents"),
        ("POST", "/views"),
    ]


async def looked_at(page: Page, paths: list[str]) -> dict[str, list[str]]:
    """The controls of each page that has some."""
    await page.add_init_script(COUNT_REQUESTS)
    found = {}
    for path in paths:
        await settled(page, path)
        found[path] = await page.evaluate(CONTROLS, HARMLESS)
    return {path: names for path, names in found.items() if names}


async def test_a_viewer_finds_nothing_that_acts_on_any_detail_page_and_the_api_refuses_it(site: Site) -> None:
    tenant, key = await site.server.another_tenant("onlookers")
    await site.tasks.report.enqueue(Report(month="x"), tenant_id=tenant.tenant_id)
    (task,) = await dead_letters(site, key, 1)
    known, paths = await details(site, tenant, key, task)
    async with site.visit("viewer", "onlookers", watch=False) as page:
        assert await looked_at(page, paths) == {}
        answers = await page.evaluate(SEND, actions(known))
        assert [call for call, status in answers if status != 403] == []
    async with site.visit("viewer", watch=False) as page:  # of the whole installation
        shared = ["/queues/reports", f"/inlets/{known['inlet']}", "/workers", "/schedules", f"/tasks/{task}"]
        assert await looked_at(page, shared) == {}
    # For somebody who may act, the same look finds what acts on each of them.
    acting = [path for path in paths if "/compare" not in path and str(known["operation"]) not in path]
    async with site.visit(tenant="onlookers", watch=False) as page:
        assert set(await looked_at(page, acting)) == {path for path in acting if "/inlets/" not in path}
