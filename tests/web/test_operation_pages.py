"""Re-indexes, the gate, inlets, schedules and sessions: their buttons in a browser."""

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from playwright.async_api import expect

from penstock.model.queue_names import REINDEX, SHARD
from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.web.acting import act, ask, choose_all

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from penstock.model import TenantId

ASKED = [{"question": "who repaired the gate?", "documents": ["gate.md"]}]
WORSE = [{"question": "who repaired the gate?", "before": 1.0, "after": 0.5}]
END = "select ingest.end_evaluation($1, 1.0, 0.5, $2, 1, 0, '{}')"
REFUSE = """
insert into queues.inlet_refusal (inlet_id, at, message_key, reason)
select inlet_id, now(), 'order 17', 'there is no task type ship' from queues.inlet where name = $1
"""


@asynccontextmanager
async def no_reindexing(site: Site) -> AsyncIterator[None]:
    """Within the block nobody works on re-indexes."""
    async with site.server.database.connect("operator") as operator:
        for queue in (REINDEX, SHARD):
            await operator.execute("select queues.pause($1, 'tests')", queue)
        try:
            yield
        finally:
            for queue in (REINDEX, SHARD):
                await operator.execute("select queues.resume($1)", queue)


async def test_schedules_and_waiting_tasks_that_match_run_now(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("clockwork")
    for month in ("2031-01", "2031-02"):
        await site.tasks.bill.enqueue(Report(month=month), tenant_id=tenant.tenant_id, delay=3600)
    async with site.visit() as page:
        ran = page.get_by_role("table", name="Tasks").locator(".vtable-body .vtable-row")
        await page.goto("/tasks?state=completed&task_type=maintain-documents")
        await ran.first.wait_for()
        before = await ran.count()
        await page.goto("/schedules?q=maintain-documents")
        await choose_all(page, "Schedules")
        await act(page, "Run now 1", "Run now 1 schedule", "Run schedules", "1 of 1 done")
        await page.goto("/tasks?state=completed&task_type=maintain-documents")
        await expect(ran).to_have_count(before + 1)
    site.tasks.broken.discard("bill")
    try:
        async with site.visit("operator", "clockwork") as page:
            await page.goto("/tasks?state=waiting&task_type=bill&sel=all")
            await act(page, "Run now 2", "Run now 2 tasks", "Run tasks now", "2 of 2 done")
            await page.get_by_text("No task is waiting").wait_for()
            await page.goto("/tasks?state=completed")
            rows = page.get_by_role("table", name="Tasks").locator(".vtable-body .vtable-row")
            await expect(rows.filter(has_text="bill")).to_have_count(2)
    finally:
        site.tasks.broken.add("bill")


async def test_sessions_that_match_are_ended_and_ones_own_is_spared(site: Site) -> None:
    await site.server.another_tenant("gatehouse")
    for name in ("guest Ada", "guest Bo"):
        link = await site.sessions.create_link(name, "viewer", "gatehouse")
        assert await site.sessions.use_link(link.token) is not None
    async with site.visit("admin", "gatehouse") as page:
        await page.goto("/access/sessions?q=guest")
        rows = page.get_by_role("table", name="Sessions").locator(".vtable-body .vtable-row")
        await expect(rows).to_have_count(2)
        await choose_all(page, "Sessions")
        await act(page, "End 2", "End 2 sessions", "End sessions", "2 of 2 done")
        await page.get_by_text("Nothing matches").wait_for()
        await page.goto("/access/sessions?sel=all")
        dialog = await ask(page, "End 1")
        await expect(dialog).to_contain_text("1: it is your own session")
        await expect(dialog).to_contain_text("Nothing to do")
        await expect(dialog.get_by_role("button", name="End 0 sessions")).to_be_disabled()


async def test_a_reindex_is_stopped_resumed_and_followed_to_its_end_without_a_reload(site: Site) -> None:
    _, key = await site.server.another_tenant("dredger")
    async with site.visit("admin", "dredger") as page:
        card = page.get_by_role("status", name="Re-index of default")
        async with no_reindexing(site):
            async with site.server.client(key) as client:
                assert (await client.post("/v1/reindexes", json={})).status_code == 202
            await page.goto("/operations")
            await card.get_by_role("button", name="Stop").click()
            await expect(card).to_contain_text("stopped by admin of tests")
            await card.get_by_role("button", name="Resume").click()
            await card.get_by_role("button", name="Stop").wait_for()
        await expect(card).to_contain_text("done")
        await expect(card.get_by_role("button")).to_have_count(0)


async def held_back(site: Site, tenant_id: TenantId, key: str) -> UUID:
    """A switch to another model that the project's questions hold back; the id of its re-index."""
    async with site.server.client(key) as client:
        begun = await client.post("/v1/reindexes", json={"embedder": "minilm"})
        assert begun.status_code == 202, begun.text
        run_id = UUID(begun.json()["run_id"])
        calls = site.server.engine.bulk_calls
        await calls.plan(tenant_id, run_id)
        assert await calls.finish(tenant_id, run_id) == "waiting"
        shown = (await client.get("/v1/projects/default/gate")).json()["evaluation"]
    async with site.server.engine.tenants.transaction(tenant_id) as connection:
        await connection.execute(END, UUID(shown["evaluation_id"]), json.dumps(WORSE))
    assert await calls.finish(tenant_id, run_id) == "waiting"
    return run_id


async def test_a_model_that_waits_at_the_gate_is_refused_or_goes_live_by_a_button(site: Site) -> None:
    tenant, key = await site.server.another_tenant("tollgate")
    async with site.server.client(key) as client:
        made = await client.put("/v1/projects/default/gate", json={"questions": ASKED})
        assert made.status_code == 200, made.text
    async with no_reindexing(site), site.visit("admin", "tollgate") as page:
        cards = page.get_by_role("status", name="Re-index of default")
        gate = page.get_by_role("group", name="Gate of default")
        await held_back(site, tenant.tenant_id, key)
        await page.goto("/operations")
        await expect(gate).to_contain_text("1.00 → 0.50 who repaired the gate?")
        await site.shoot(page, "gate-light")
        await gate.get_by_role("button", name="Keep the old index").click()
        await expect(gate).to_have_count(0)
        await expect(cards.first).to_contain_text("stopped")

        run_id = await held_back(site, tenant.tenant_id, key)
        await gate.wait_for()  # without a reload
        await gate.get_by_role("button", name="Go live anyway").click()
        await expect(gate).to_have_count(0)
        assert await site.server.engine.bulk_calls.finish(tenant.tenant_id, run_id) == "done"
        await expect(cards.first).to_contain_text("done")
        async with site.server.client(key) as client:
            assert (await client.get("/v1/projects/default")).json()["embedder"] == "minilm"


async def test_an_inlet_is_paused_and_resumed_on_its_page_and_shows_what_it_refused(site: Site) -> None:
    async with (
        site.server.database.connect("operator") as operator,
        site.server.database.connect("admin") as admin,
    ):
        await operator.execute("select queues.put_inlet('millrace', 'pgmq', 'pgmq:millrace')")
        await admin.execute(REFUSE, "millrace")
        try:
            async with site.visit() as page:
                await page.goto("/inlets?q=millrace")
                await page.get_by_role("link", name="millrace").click()
                await expect(page).to_have_url(f"{site.server.url}/inlets/millrace")
                refused = page.get_by_role("table", name="Refused messages")
                await expect(refused).to_contain_text("order 17")
                await expect(refused).to_contain_text("there is no task type ship")
                facts = page.get_by_role("region", name="Facts")
                await page.get_by_role("button", name="Pause", exact=True).click()
                await expect(facts).to_contain_text("paused")
                await page.reload()
                await page.get_by_role("button", name="Resume", exact=True).click()
                await expect(facts).not_to_contain_text("paused")
                await page.goto("/inlets?q=millrace")
                await page.get_by_role("button", name="Pause millrace").click()
                await page.get_by_role("button", name="Resume millrace").click()
                await page.get_by_role("button", name="Pause millrace").wait_for()
            async with site.visit("viewer") as page:
                await page.goto("/inlets/millrace")
                await page.get_by_role("table", name="Refused messages").wait_for()
                acting = re.compile("Pause|Resume")
                await expect(page.locator("main").get_by_role("button", name=acting)).to_have_count(0)
        finally:
            await operator.execute("select queues.remove_inlet('millrace')")
