"""Failures are acted on in a browser: cancel, replay, purge, retry, and a canary that decides."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.plugins.workers import eventually
from tests.web.acting import act, ask, choose_all, dead_letters
from tests.web.uploading import upload

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from penstock.db import Connection

FAIL = """
update ingest.document set
  status = 'failed', reason_code = 'crash', error_message = $2,
  fingerprint = internal.fingerprint('document', 'crash', $2)
where tenant_id = $1
"""
WAITING = """
select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
"""
READY = "select count(*) from queues.ready where task_id = any($1)"


@asynccontextmanager
async def held(admin: Connection, task_id: int) -> AsyncIterator[None]:
    """Within the block a caller that cancels this task waits."""
    async with admin.transaction():
        await admin.execute("select from queues.ready where task_id = $1 for update", task_id)
        yield


async def test_a_running_operation_is_cancelled_and_its_receipt_says_what_was_not_done(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("headrace")
    tasks = await site.tasks.idle.enqueue_many(
        [Report(month=f"m{n}") for n in range(300)], tenant_id=tenant.tenant_id
    )
    async with (
        site.server.database.connect("admin") as admin,
        site.visit("viewer", "headrace") as reader,
        site.visit("operator", "headrace") as page,
    ):

        async def both_wait() -> bool:
            return bool(await admin.fetchval(WAITING) == 2)

        card = page.get_by_role("status", name="Cancel tasks")
        async with held(admin, sorted(tasks, key=str)[60]):  # in the second batch: items are ordered as text
            await page.goto("/tasks?state=ready&queue=idle&sel=all")
            dialog = await ask(page, "Cancel 300")
            await dialog.get_by_role("button", name="Cancel 300 tasks", exact=True).click()
            await expect(card).to_contain_text("50 of 300 done")
            path = await card.get_by_role("link").get_attribute("href") or ""
            for shown in (path, f"/failures?operation={path.rsplit('/', 1)[1]}"):
                await reader.goto(shown)
                await expect(reader.locator("main")).to_contain_text("50 of 300 done")
                await expect(reader.get_by_role("button", name="Cancel")).to_have_count(0)
            await card.get_by_role("button", name="Cancel", exact=True).click()
            await eventually(both_wait, what="the operation waits for a task, and the cancel for its batch")
        await expect(card).to_contain_text("cancelled by operator of tests")
        told = re.search(r"(\d+) of 300 done, (\d+) left as they were", await card.inner_text())
        assert told is not None, await card.inner_text()
        done, left = int(told[1]), int(told[2])
        assert done >= 100
        assert done + left == 300
        assert await admin.fetchval(READY, tasks) == left
        await card.get_by_role("link").click()
        receipt = page.get_by_role("region", name="Receipt")
        await expect(receipt).to_contain_text(told[0])
        await expect(receipt.locator("time").nth(1)).to_have_text(re.compile("^(just now|[0-9]+ s ago)$"))
        await site.shoot(page, "operation-cancelled-light")
        items = page.get_by_role("table", name="Items")
        await expect(items.locator(".vtable-body .vtable-row").first).to_contain_text("done")

        async def end_is_shown() -> bool:
            await items.evaluate("(box) => box.scrollTo(0, box.scrollHeight)")
            return await items.locator("[data-key='299']").get_by_text("not reached").count() == 1

        await eventually(end_is_shown, within=30, every=0.1, what="the last item was not reached")


async def test_one_dead_task_is_replayed_and_the_others_are_purged(site: Site) -> None:
    tenant, key = await site.server.another_tenant("stopgate")
    bills = [Report(month=month) for month in ("elm", "elm", "elm", "ash")]
    await site.tasks.bill.enqueue_many(bills, tenant_id=tenant.tenant_id)
    first, *_ = await dead_letters(site, key, 4)
    async with site.visit("operator", "stopgate") as page:
        await page.goto(f"/tasks/{first}")
        await expect(page.locator(".lead")).to_have_text("dead")
        site.tasks.broken.discard("bill")
        try:
            await page.get_by_role("button", name="Replay …").click()
            dialog = page.get_by_role("dialog")
            await expect(dialog.get_by_role("heading")).to_have_text("Replay 1 dead letter?")
            await dialog.get_by_role("button", name="Replay 1 dead letter", exact=True).click()
            await expect(page.locator(".toasts")).to_contain_text("goes back into its queue")
            await expect(page.locator(".lead")).to_have_text("completed")
            await expect(page.get_by_role("button", name="Replay …")).to_have_count(0)
        finally:
            site.tasks.broken.add("bill")
        await page.goto("/tasks?state=dead")
        row = page.get_by_role("table", name="Tasks").locator(".vtable-body .vtable-row")
        await expect(row).to_have_count(3)
        await row.first.get_by_role("checkbox").check()
        await act(page, "Purge 1", "Purge 1 dead letter", "Purge dead letters", "1 of 1 done")
        await expect(row).to_have_count(2)
        await page.goto("/failures")
        group = page.get_by_role("group", name="All causes shown")
        await group.get_by_role("button", name="Purge all 2 dead letters").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("They are deleted for good and cannot be replayed.")
        await dialog.get_by_role("button", name="Purge 2 dead letters").click()
        card = page.get_by_role("status", name="Purge dead letters")
        await expect(card).to_contain_text("2 of 2 done")
        await page.get_by_text("Nothing failed").wait_for()


async def test_a_group_of_failed_documents_is_retried_and_is_gone_when_they_are_searchable(
    site: Site,
) -> None:
    tenant, key = await site.server.another_tenant("forebay")
    for n in range(2):
        await upload(site, f"plan-{n}.txt", f"Plan {n} of the forebay.", key=key)
    async with site.server.database.connect("admin") as admin:
        await admin.execute(FAIL, tenant.tenant_id, "the parser crashed")
    # At the end the group is gone, and the browser notes a 404.
    async with site.visit("operator", "forebay", watch=False) as page:
        await page.goto("/failures?kind=document")
        await page.get_by_role("list", name="Failure groups").get_by_role("link").click()
        members = page.get_by_role("table", name="Documents of this cause")
        await expect(members.locator(".vtable-body .vtable-row")).to_have_count(2)
        await page.get_by_role("button", name="Retry 2 …").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Retry 2 documents", exact=True).click()
        card = page.get_by_role("status", name="Retry documents")
        await expect(card).to_contain_text("2 of 2 done")
        await page.get_by_text("No failure with this cause is left").wait_for()
        await page.goto("/documents?status=indexed")
        await expect(page.locator(".vtable-body [role=row]")).to_have_count(2)


async def test_a_canary_of_one_per_cent_stops_by_a_bad_result_and_goes_on_by_a_good_one(site: Site) -> None:
    tenant, key = await site.server.another_tenant("miners")
    site.tasks.broken.add("canary")
    await site.tasks.canary.enqueue_many(
        [Report(month=f"c{n}") for n in range(100)], tenant_id=tenant.tenant_id
    )
    await dead_letters(site, key, 100)
    async with site.visit("operator", "miners") as page:
        card = page.get_by_role("status", name="Replay dead letters")
        await page.goto("/tasks?state=dead&task_type=canary&sel=all")
        dialog = await ask(page, "Replay 100")
        await dialog.get_by_role("checkbox").check()
        await expect(dialog.get_by_label("Percent to try first")).to_have_value("1")
        await dialog.get_by_role("button", name="Try 1 % first").click()
        await expect(card).to_contain_text("stopped")
        await expect(card).to_contain_text("1 of 100 done, 99 left as they were")
        await expect(card).to_contain_text("the other 99 were not touched")
        await expect(card).to_contain_text("Tried 1 % first: 0 of 1 succeeded, 1 failed")
        await dead_letters(site, key, 100)
        site.tasks.broken.discard("canary")
        try:
            await choose_all(page, "Tasks")
            dialog = await ask(page, "Replay 100")
            await dialog.get_by_role("checkbox").check()
            await dialog.get_by_role("button", name="Try 1 % first").click()
            await expect(card).to_contain_text("100 of 100 done")
            await expect(card).to_contain_text("1 of 1 succeeded.")
            await expect(card).not_to_contain_text("left as they were")
            await page.get_by_text("No task is dead").wait_for()
        finally:
            site.tasks.broken.add("canary")
