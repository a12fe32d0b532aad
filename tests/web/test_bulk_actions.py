"""Every list acts on all that match its filter: the number is named first, progress and receipt are shown."""

from __future__ import annotations

import re

from playwright.async_api import expect

from penstock.model import uuid7
from tests.integration.failed_processes import failed_process
from tests.integration.known_clients import NEW_SOURCE
from tests.plugins.console import Site
from tests.plugins.workers import working
from tests.web.acting import act, choose_all


async def test_sources_are_chosen_by_a_filter_paused_and_resumed(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("springs")
    async with site.server.database.connect("admin") as admin:
        for kind in ("hubspot", "hubspot", "gmail"):
            await admin.execute(NEW_SOURCE, uuid7(), tenant.tenant_id, kind)
    async with site.visit("operator", "springs") as page:
        await page.goto("/sources?kind=hubspot")
        await expect(page.locator(".card")).to_have_count(2)
        await page.get_by_label("Select all 2 that match").check()
        await expect(page).to_have_url(re.compile("sel=all"))
        await act(page, "Pause 2", "Pause 2 sources", "Pause sources", "2 of 2 done")
        await expect(page.locator(".card").get_by_text("paused").first).to_be_visible()
        await page.goto("/sources?state=paused&sel=all")
        await page.get_by_role("toolbar").get_by_role("button", name="Sync 2").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("2: it is paused; resume it instead")
        await dialog.get_by_role("button", name="Cancel").click()
        await act(page, "Resume 2", "Resume 2 sources", "Resume sources", "2 of 2 done")
    async with site.visit("viewer", "springs") as page:
        await page.goto("/sources")
        await expect(page.locator(".card")).to_have_count(3)
        await expect(page.locator("main").get_by_role("checkbox")).to_have_count(0)


async def test_queues_are_paused_together_and_the_one_of_operations_is_spared(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/queues?q=o")
        await choose_all(page, "Queues")
        n = await page.get_by_role("table", name="Queues").locator(".vtable-body .vtable-row").count()
        button = re.compile(r"^Pause \d+ …$")
        await page.get_by_role("toolbar").get_by_role("button", name=button).click()
        await page.get_by_role("dialog").get_by_role("button", name=f"Pause {n} queues").click()
        card = page.get_by_role("status", name="Pause queues")
        await expect(card).to_contain_text("1 skipped: operations run in it")
        await expect(page.get_by_role("table", name="Queues")).to_contain_text("by admin of tests")
        await page.goto("/queues?state=paused")
        await choose_all(page, "Queues")
        await page.get_by_role("toolbar").get_by_role("button", name=re.compile("^Resume")).click()
        await page.get_by_role("dialog").get_by_role("button", name=re.compile(r"^Resume \d+ queue")).click()
        await expect(page.get_by_role("status", name="Resume queues")).to_contain_text("done")
        await page.get_by_text("Nothing matches").wait_for()


async def test_a_failed_process_starts_again_and_so_do_all_that_match(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("weir")
    async with site.server.database.connect("admin") as admin:
        failed = [await failed_process(admin, tenant.tenant_id) for _ in range(3)]
    async with site.visit("operator", "weir") as page:
        await page.goto(f"/processes/{failed[0]}")
        await expect(page.locator(".lead")).to_contain_text("failed")
        await page.get_by_role("button", name="Start again").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name=re.compile("^Start")).click()
        await expect(page.locator(".lead")).to_contain_text("open")
        await expect(page.get_by_role("button", name="Start again")).to_have_count(0)
        await page.goto("/processes?state=failed")
        await choose_all(page, "Processes")
        await act(page, "Start again 2", "Start again 2 processes", "Start processes again", "2 of 2 done")
        await page.get_by_text("Nothing matches").wait_for()


async def test_workers_that_match_stop_and_say_so(site: Site) -> None:
    async with (
        working(site.server.engine.tasks, {"spare": 1}, name="old-worker-1", grace=1) as worker,
        site.visit() as page,
    ):
        await page.goto("/workers?q=old-worker")
        await page.get_by_role("table", name="Workers").get_by_text("alive").wait_for()
        await choose_all(page, "Workers")
        await act(page, "Stop 1", "Stop 1 worker", "Stop workers", "1 of 1 done")
        await page.get_by_role("table", name="Workers").get_by_text("stopped").wait_for()
        assert worker.asked_to_stop.is_set()


async def test_keys_are_revoked_and_clients_deleted_after_the_number_was_named(site: Site) -> None:
    _, key = await site.server.another_tenant("millpond")
    async with site.server.client(key) as client:
        for n in range(3):
            body = {"name": f"old program {n}", "scopes": ["search"]}
            assert (await client.post("/v1/keys", json=body)).status_code == 201
            assert (await client.post("/v1/clients", json={"name": f"Client {n}"})).status_code == 201
    async with site.visit("admin", "millpond") as page:
        await page.goto("/access/keys?q=old&state=active")
        await choose_all(page, "Keys")
        await act(page, "Revoke 3", "Revoke 3 keys", "Revoke keys", "3 of 3 done")
        await page.get_by_text("Nothing matches").wait_for()
        await page.goto("/clients")
        await choose_all(page, "Clients")
        await page.get_by_role("button", name="Clear").wait_for()
        await act(page, "Delete 3", "Delete 3 clients", "Delete clients", "3 of 3 done")
        await page.get_by_text("No clients yet").wait_for()
        operation = page.get_by_role("link", name="Delete clients")
        await operation.click()
        await expect(page).to_have_url(re.compile(r"/operations/[0-9a-f-]+$"))


async def test_schedules_are_switched_off_and_on_together(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/schedules?q=maintain")
        await choose_all(page, "Schedules")
        await act(page, "Switch off 1", "Switch off 1 schedule", "Switch schedules off", "1 of 1 done")
        await page.get_by_role("table", name="Schedules").get_by_text("off", exact=True).wait_for()
        await choose_all(page, "Schedules")
        await act(page, "Switch on 1", "Switch on 1 schedule", "Switch schedules on", "1 of 1 done")


async def test_inlets_are_filtered_paused_and_resumed_together(site: Site) -> None:
    put = "select queues.put_inlet($1, 'pgmq', 'pgmq:' || $1)"
    async with site.server.database.connect("operator") as operator:
        for name in ("flume-a", "flume-b", "race"):
            await operator.execute(put, name)
    async with site.visit() as page:
        await page.goto("/inlets?q=flume")
        await choose_all(page, "Inlets")
        await act(page, "Pause 2", "Pause 2 inlets", "Pause inlets", "2 of 2 done")
        await page.goto("/inlets?q=flume&state=paused&sel=all")
        await act(page, "Resume 2", "Resume 2 inlets", "Resume inlets", "2 of 2 done")
        await page.get_by_text("Nothing matches").wait_for()
    async with site.visit("viewer") as page:
        await page.goto("/inlets?q=flume")
        await page.get_by_role("link", name="flume-a").wait_for()
        await expect(page.locator("main").get_by_role("checkbox")).to_have_count(0)
    async with site.server.database.connect("operator") as operator:
        for name in ("flume-a", "flume-b", "race"):
            await operator.execute("select queues.remove_inlet($1)", name)


async def test_operations_that_match_are_cancelled_together(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("tailrace")
    operation = """
        insert into ingest.operation (operation_id, tenant_id, action, filter, expected_count, started_by,
          started_at, updated_at)
        values ($1, $2, 'documents.retry', '{}', 1, 'tests', now(), now())"""
    async with site.server.database.connect("admin") as admin:
        for _ in range(2):  # nobody took up their tasks: they have none
            await admin.execute(operation, uuid7(), tenant.tenant_id)
    async with site.visit("operator", "tailrace") as page:
        await page.goto("/operations?state=running")
        table = page.get_by_role("table", name="Operations")
        await expect(table.locator(".vtable-body .vtable-row")).to_have_count(2)
        await choose_all(page, "Operations")
        await act(page, "Cancel 2", "Cancel 2 operations", "Cancel operations", "2 of 2 done")
        await page.get_by_text("Nothing matches").wait_for()
        await page.goto("/operations?state=stopped")
        await expect(table.locator(".vtable-body .vtable-row")).to_have_count(2)
