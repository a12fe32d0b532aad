"""One task in a browser: what holds it up, attempts compared, a copy with another payload, a purge.

And the tenant whose tasks and documents somebody of the installation looks at.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.web.acting import dead_letters
from tests.web.uploading import upload

if TYPE_CHECKING:
    from playwright.async_api import Page

    from penstock.db import Connection


@dataclass(frozen=True, slots=True)
class Hand:
    """A worker of a queue of its own, whose every step is a call of a test; it stays alive for an hour."""

    admin: Connection
    queue: str
    worker_id: int

    @classmethod
    async def register(cls, admin: Connection, name: str, queue: str, **versions: str) -> Hand:
        register = "select queues.register_worker($1, array[$2], interval '1 hour', $3)"
        return cls(admin, queue, await admin.fetchval(register, name, queue, json.dumps(versions)))

    async def claim(self) -> int:
        """The lease of the queue's next task."""
        lease = await self.admin.fetchval(
            "select lease_id from queues.claim($1, $2)", self.worker_id, self.queue
        )
        assert lease is not None
        return int(lease)

    async def fail(self, code: str, message: str, *frames: str) -> None:
        """Run the next task and fail; it is due again at once."""
        await self.admin.execute(
            "select queues.fail($1, array[$2::bigint], array[$3], array[$4], array[$5::jsonb], '{0}')",
            self.worker_id,
            await self.claim(),
            code,
            message,
            json.dumps({"frames": frames}),
        )

    async def stop(self) -> None:
        await self.admin.execute("select queues.stop_worker($1)", self.worker_id)


async def follow(page: Page, reason: str, path: str) -> None:
    """The reason has a link of its own, and it leads there."""
    told = page.locator(".section li").filter(has_text=reason)
    await told.get_by_role("link", name="See what is holding it up").click()
    await expect(page).to_have_url(re.compile(re.escape(path) + "$"))


async def test_what_holds_a_task_up_is_one_click_away_as_far_as_the_worker_that_runs_it(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("lockkeeper")
    async with site.server.database.connect("admin") as admin, site.visit() as page:
        hand = await Hand.register(admin, "lock-hand", "hatches")
        report = Report(month="lock")
        idle, own = site.tasks.idle, tenant.tenant_id
        first, second = await idle.enqueue_many(
            [report, report], queue="hatches", tenant_id=own, unique_keys=["gate"] * 2, on_duplicate="wait"
        )
        await hand.claim()
        third = await idle.enqueue(report, queue="hatches", tenant_id=own)

        await page.goto(f"/tasks/{second}")
        await expect(page.locator(".lead")).to_have_text("parked")
        await follow(page, f"Its key has been held by task {first}", f"/tasks/{first}")
        await expect(page.locator(".lead")).to_have_text("running")
        await follow(
            page,
            f"running (or is about to run) on worker {hand.worker_id} (lock-hand)",
            "/workers?q=lock-hand",
        )
        rows = page.get_by_role("table", name="Workers").locator(".vtable-body .vtable-row")
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("lock-hand")

        await page.goto(f"/tasks/{third}")
        await follow(page, "It is ready, and the next of its lane.", "/tasks?state=ready&queue=hatches")
        row = page.get_by_role("table", name="Tasks").locator(".vtable-body .vtable-row")
        await expect(row).to_have_count(1)
        await row.get_by_role("link", name="idle").click()
        await admin.execute("select queues.pause('hatches', 'anna')")
        await hand.stop()
        await page.reload()
        await follow(page, "The queue hatches has been paused", "/queues/hatches")
        await expect(page.locator(".lead")).to_contain_text("by anna")
        await page.go_back()
        await follow(page, "No live worker serves the queue hatches.", "/workers")
        await page.get_by_role("heading", name="Workers", level=1).wait_for()
        await admin.execute("select queues.resume('hatches')")


async def differing(page: Page) -> set[str]:
    """The rows of the comparison that are marked."""
    table = page.get_by_role("table", name="Comparison")
    marked = table.get_by_role("row").filter(has_text="differs")
    assert await marked.count() == await table.locator("tr.differs").count()
    return {text.split()[0] for text in await marked.get_by_role("rowheader").all_text_contents()}


async def test_two_of_three_attempts_are_compared_and_what_differs_is_marked(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("fitters")
    run, shut = "lift.py:12 in run", "gate.py:30 in shut"
    async with site.server.database.connect("admin") as admin, site.visit("viewer", "fitters") as page:
        old = await Hand.register(admin, "old-hand", "lifts", code="2.0", python="3.11.9")
        new = await Hand.register(admin, "new-hand", "lifts", code="2.1", python="3.11.9")
        task = await site.tasks.idle.enqueue(Report(month="lift"), queue="lifts", tenant_id=tenant.tenant_id)
        await old.fail("TimeoutError", "the gate did not open", run, "gate.py:5 in open", shut)
        await new.fail("TimeoutError", "the gate did not open", run, "gate.py:9 in open", shut)
        await new.fail("ValueError", "no gate 7", run)
        for hand in (old, new):
            await hand.stop()

        await page.goto(f"/tasks/{task}")
        await page.get_by_text("Choose two to compare them.").wait_for()
        box = [page.get_by_role("checkbox", name=f"Compare attempt {n}") for n in (1, 2, 3)]
        for each in (box[2], box[0], box[1]):  # of three chosen, the last two are
            await each.check()
        await expect(box[2]).not_to_be_checked()
        await page.get_by_role("link", name="Compare the two").click()
        await expect(page).to_have_url(re.compile(rf"/tasks/{task}/compare\?a=\d+&b=\d+$"))
        table = page.get_by_role("table", name="Comparison")
        await expect(table.get_by_role("columnheader")).to_have_text(["", "Attempt 1", "Attempt 2"])
        assert await differing(page) == {"Worker", "code"}
        versions = table.get_by_role("row").filter(has_text="code version")
        await expect(versions.get_by_role("cell")).to_have_text(["2.0", "2.1"])
        lines = page.get_by_role("group", name="Difference of the tracebacks").locator("> div")
        await expect(lines).to_have_text([run, "1gate.py:5 in open", "2gate.py:9 in open", shut])
        await expect(lines.nth(1)).to_have_class("only-a")
        await expect(lines.nth(2)).to_have_class("only-b")

        await page.get_by_label("Second attempt").select_option("Attempt 3, failed")
        await expect(table.get_by_role("columnheader")).to_have_text(["", "Attempt 1", "Attempt 3"])
        assert await differing(page) == {"Worker", "code", "Error", "Message"}
        await page.reload()  # the address leads another person to the same two
        await page.get_by_label("First attempt").select_option("Attempt 2, failed")
        await expect(table.get_by_role("columnheader")).to_have_text(["", "Attempt 2", "Attempt 3"])
        assert await differing(page) == {"Error", "Message"}
        await expect(lines).to_have_text([run, "2gate.py:9 in open", "2" + shut])


async def test_a_copy_runs_with_another_payload_and_one_cause_is_purged_on_its_own_page(site: Site) -> None:
    tenant, key = await site.server.another_tenant("copyists")
    reports = [Report(month=month) for month in ("plum", "plum")]
    await site.tasks.bill.enqueue_many(reports, tenant_id=tenant.tenant_id)
    first, _ = await dead_letters(site, key, 2)
    # At the end the group is gone, and the browser notes a 404.
    async with site.visit("operator", watch=False) as page:
        await page.goto(f"/tasks/{first}")
        await page.get_by_role("button", name="Run again").click()
        dialog = page.get_by_role("dialog")
        payload = dialog.get_by_label("Payload")
        await expect(payload).to_have_value(re.compile('"month": "plum"'))
        await expect(payload).not_to_have_value(re.compile("swordfish"))
        await payload.fill('{"month": ')
        await dialog.get_by_role("button", name="Enqueue 1 task").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("JSON")
        await payload.fill('{"month": "quince", "pages": 9}')
        await dialog.get_by_role("button", name="Enqueue 1 task").click()
        await expect(page).not_to_have_url(re.compile(rf"/tasks/{first}$"))
        await expect(page.locator(".attempt-error")).to_contain_text("no price list for quince")
        await expect(page.get_by_role("group", name="payload")).to_contain_text(re.compile("quince.*9", re.S))
        await page.get_by_role("region", name="Task").get_by_text("copyists").wait_for()
        await dead_letters(site, key, 3)

        await page.goto(f"/tasks/{first}")
        await page.get_by_role("link", name="See all failures with this cause").click()
        await page.get_by_role("heading", name="bill: ValueError", level=1).wait_for()
        members = page.get_by_role("table", name="Dead letters of this cause")
        await expect(members.locator(".vtable-body .vtable-row")).to_have_count(2)
        await page.get_by_role("button", name="Purge 2 …").click()
        await expect(page.get_by_role("dialog")).to_contain_text("deleted for good")
        await page.get_by_role("dialog").get_by_role("button", name="Purge 2 dead letters").click()
        await expect(page.get_by_role("status", name="Purge dead letters")).to_contain_text("2 of 2 done")
        await page.get_by_text("No failure with this cause is left").wait_for()
    (kept,) = await dead_letters(site, key, 1)
    assert kept != first


async def test_the_installation_looks_at_one_tenant_after_another_and_at_all_of_them(site: Site) -> None:
    async with site.server.database.connect("admin") as admin:
        await admin.execute("select queues.put_queue('banks')")
    for (tenant, key), name in (
        (await site.server.another_tenant("northbank"), "north"),
        (await site.server.another_tenant("southbank"), "south"),
    ):
        await upload(site, f"{name}.txt", f"The {name} bank of the river.", key=key)
        await site.tasks.idle.enqueue(Report(month=name), queue="banks", tenant_id=tenant.tenant_id)
    async with site.visit() as page:
        rows = page.locator(".vtable-body .vtable-row")
        switch = page.get_by_role("combobox", name="Tenant", exact=True)
        await page.goto("/documents")
        await page.get_by_role("heading", name="Choose a tenant", level=1).wait_for()
        await expect(switch).to_have_value("")
        await page.get_by_role("list", name="Tenants").get_by_role("button", name="northbank").click()
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("north.txt")
        await expect(switch).to_have_value("northbank")
        await switch.select_option("southbank")
        await expect(rows).to_contain_text("south.txt")
        await page.goto("/tasks?state=ready&queue=banks")  # the choice stays
        await expect(rows).to_have_count(1)
        await rows.get_by_role("link", name="idle").click()
        await expect(page.get_by_role("group", name="payload")).to_contain_text("south")
        await page.go_back()
        await switch.select_option("All tenants")
        await expect(rows).to_have_count(2)

        await page.goto("/access/tenants?q=northbank")
        await page.get_by_role("button", name="Open northbank").click()
        await expect(page).to_have_url(f"{site.server.url}/documents")
        await expect(rows).to_contain_text("north.txt")
        await expect(switch).to_have_value("northbank")
        await switch.select_option("All tenants")
        await page.get_by_role("heading", name="Choose a tenant", level=1).wait_for()
