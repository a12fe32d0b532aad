"""The operator's pages in a real browser: what they show, what they do, and that they live."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.integration.api_server import api_server
from tests.plugins.console import Site
from tests.plugins.console_data import HOSTILE, Report
from tests.plugins.database import Database
from tests.plugins.workers import eventually

if TYPE_CHECKING:
    from playwright.async_api import Page


async def heading(page: Page, text: str) -> None:
    await page.get_by_role("heading", name=text, level=1).wait_for()


async def live(page: Page) -> None:
    """The event stream is open."""
    await expect(page.locator("button.live")).to_contain_text("Live")


async def dead_task(site: Site, task_type: str) -> str:
    async with site.server.client() as client:
        answer = await client.get("/v1/tasks", params={"state": "dead", "task_type": task_type})
    return str(answer.json()["items"][0]["task_id"])


async def test_the_overview_says_in_words_what_is_wrong_and_where_to_click(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/")
        verdict = page.get_by_role("status", name="Verdict")
        await verdict.get_by_text("No worker serves the queue archive").click()
        await heading(page, "archive")
        await expect(page).to_have_url(f"{site.server.url}/queues/archive")
        await page.go_back()
        await heading(page, "Overview")
        await page.get_by_role("link", name="tasks out of attempts").click()
        await expect(page).to_have_url(f"{site.server.url}/failures?kind=task")


async def test_a_list_changes_without_a_reload_when_work_arrives(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/tasks?state=ready&queue=archive")
        await live(page)
        mark = await page.evaluate("window.untouched = Math.random()")
        tenant_id = site.server.tenant.tenant_id
        task_id = await site.tasks.archive.enqueue(Report(month="live"), tenant_id=tenant_id)
        await page.locator(f"[data-key='{task_id}']").wait_for()
        assert await page.evaluate("window.untouched") == mark


async def test_paused_updates_keep_the_page_as_it_is_until_they_are_resumed(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/tasks?state=ready&queue=archive")
        await live(page)
        await page.keyboard.press("p")
        await expect(page.locator("button.live")).to_contain_text("Paused")
        tenant_id = site.server.tenant.tenant_id
        task_id = await site.tasks.archive.enqueue(Report(month="paused"), tenant_id=tenant_id)
        row = page.locator(f"[data-key='{task_id}']")
        await expect(row).to_have_count(0)
        await page.keyboard.press("p")
        await row.wait_for()


async def test_a_list_scrolled_far_down_stays_where_it_is_and_says_that_it_changed(site: Site) -> None:
    tenant_id = site.server.tenant.tenant_id
    await site.tasks.many.enqueue_many([Report(month=f"{n}") for n in range(800)], tenant_id=tenant_id)
    async with site.visit() as page:
        await page.goto("/tasks?state=ready&queue=many")
        await live(page)
        await page.locator(".vtable-body .vtable-row").first.wait_for()
        foot = page.locator(".vtable-foot")
        while not re.match(r"[78]00 of 800", await foot.inner_text()):
            await page.locator(".vtable").evaluate("box => box.scrollTo(0, box.scrollHeight)")
        await site.tasks.many.enqueue(Report(month="one more"), tenant_id=tenant_id)
        await page.get_by_role("button", name="Show it from the top").click()
        await expect(foot).to_have_text("100 of 801")  # the first page alone, from its top
        await expect(page.locator(".vtable-body .vtable-row").first).to_have_attribute("data-index", "0")


async def test_filters_are_in_the_address_and_the_back_button_undoes_them(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/tasks?state=dead")
        await page.get_by_role("link", name="bill").first.wait_for()
        await page.keyboard.press("/")
        await page.keyboard.type("task_type:report")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile(r"/tasks\?state=dead&task_type=report$"))
        await expect(page.get_by_role("link", name="bill")).to_have_count(0)
        await page.go_back()
        await page.get_by_role("link", name="bill").first.wait_for()
        await page.goto("/tasks?state=dead&task_type=bill")  # a deep link shows the same filter
        await page.get_by_role("button", name="Remove type bill").wait_for()


async def test_keys_move_through_a_list_and_between_pages(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/tasks?state=dead")
        first = page.locator(".vtable-body .vtable-row").first
        await first.wait_for()
        await page.keyboard.press("j")
        await page.keyboard.press("x")
        await expect(page.get_by_role("toolbar")).to_contain_text("1 selected")
        await expect(page).to_have_url(re.compile(r"sel=\d+"))
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("toolbar")).to_have_count(0)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile(r"/tasks/\d+$"))
        for keys, title in (("gq", "Queues"), ("gw", "Workers"), ("gf", "Failures"), ("go", "Overview")):
            await page.keyboard.type(keys)
            await heading(page, title)
        await page.keyboard.press("?")
        await page.get_by_role("dialog", name="Keyboard").wait_for()


async def test_a_queue_is_paused_with_a_name_and_resumed(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/queues/sms")
        await page.get_by_role("button", name="Pause", exact=True).click()
        await page.get_by_role("dialog").get_by_role("button", name="Pause sms").click()
        await expect(page.locator(".lead")).to_contain_text("by admin of tests")
        await page.goto("/queues")
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="sms", exact=True))
        await row.get_by_role("button", name="Resume").click()
        await row.get_by_role("button", name="Pause").wait_for()


async def test_limits_are_set_and_an_invalid_one_says_why_on_the_page(site: Site) -> None:
    async with site.visit(watch=False) as page:
        await page.goto("/queues/email")
        await page.get_by_role("button", name="Limits").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Tasks started per period").fill("5")
        await dialog.get_by_role("button", name="Set the limits").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("a rate needs both a count and a period")
        await dialog.get_by_label("Period in seconds").fill("60")
        await dialog.get_by_role("button", name="Set the limits").click()
        await expect(page.get_by_role("table", name="Limits")).to_contain_text("5 per 1 min")


async def test_a_task_is_enqueued_by_a_form_made_from_its_schema(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/queues/archive")
        await page.get_by_role("button", name="Enqueue").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("month").fill("2031-01")
        await dialog.get_by_label("pages").fill("3")
        await dialog.get_by_role("button", name="Enqueue 1 task").click()
        await page.locator(".toast a").click()
        await expect(page.get_by_role("group", name="payload")).to_contain_text("2031-01")
        await page.get_by_text("Why it is not running").wait_for()


async def test_a_task_shows_its_attempts_and_hides_secrets_until_somebody_reveals_them(site: Site) -> None:
    task_id = await dead_task(site, "report")
    async with site.visit() as page:
        await page.goto(f"/tasks/{task_id}")
        await page.get_by_text("2 attempts").wait_for()
        await expect(page.locator(".attempt-error").first).to_contain_text(HOSTILE)
        payload = page.get_by_role("group", name="payload")
        await expect(payload).not_to_contain_text("swordfish")
        await page.get_by_role("button", name="Reveal").click()
        await expect(payload).to_contain_text("swordfish")
        await page.get_by_role("link", name="Compare the two").click()
        await heading(page, "Compare two attempts")
        await expect(page.get_by_role("table")).to_contain_text("ConnectionError")
        audit = await page.request.get("/v1/audit", params={"limit": 100})
        rows = (await audit.json())["items"]
    assert ("POST /v1/tasks/{task_id}/reveal", "admin of tests") in {
        (row["action"], row["who"]) for row in rows
    }


async def test_a_waiting_task_runs_now_a_copy_runs_again_and_a_ready_one_is_cancelled(site: Site) -> None:
    tenant_id = site.server.tenant.tenant_id
    later = await site.tasks.archive.enqueue(Report(month="later"), tenant_id=tenant_id, delay=3600)
    async with site.visit() as page:
        await page.goto(f"/tasks/{later}")
        await page.get_by_role("button", name="Run now").click()
        await expect(page.locator(".toasts")).to_contain_text("The task is due now.")
        await page.get_by_role("button", name="Run again").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Enqueue 1 task").click()
        await expect(page).not_to_have_url(re.compile(rf"/tasks/{later}$"))
        await page.get_by_role("button", name="Cancel …").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel 1 task").click()
        await expect(page.locator(".lead")).to_contain_text("cancelled")


async def test_all_that_match_are_acted_on_after_the_number_was_named(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("backwater")
    reports = [Report(month=f"m{n}") for n in range(130)]
    await site.tasks.idle.enqueue_many(reports, tenant_id=tenant.tenant_id)
    async with site.visit("operator", "backwater") as page:
        await page.goto("/tasks?state=ready&queue=idle")
        await page.get_by_role("checkbox", name=re.compile("Select the")).click()
        await page.get_by_role("button", name="Select all 130 that match").click()
        await expect(page).to_have_url(re.compile("sel=all"))
        await page.get_by_role("button", name="Cancel 130").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Cancel 130 tasks").click()
        card = page.get_by_role("status", name="Cancel tasks")
        await expect(card).to_contain_text("130 of 130 done")
        await card.get_by_role("link").click()
        await page.get_by_role("region", name="Receipt").wait_for()
        await expect(page.locator(".vtable-body .vtable-row").first).to_contain_text("done")
        await page.goto("/operations")
        await expect(page.get_by_role("table", name="Operations")).to_contain_text("130 of 130")


async def test_a_group_of_failures_is_replayed_by_a_canary_that_goes_on_by_its_result(site: Site) -> None:
    tenant_id = site.server.tenant.tenant_id
    await site.tasks.canary.enqueue_many([Report(month=f"c{n}") for n in range(20)], tenant_id=tenant_id)

    async def all_dead() -> bool:
        async with site.server.client() as client:
            found = await client.get("/v1/failures", params={"task_type": "canary"})
        return bool(sum(group["count"] for group in found.json()["items"]) == 20)

    await eventually(all_dead, within=60, every=0.2, what="twenty dead letters")
    async with site.visit(watch=False) as page:  # at the end the group is gone, and the browser notes a 404
        await page.goto("/failures?task_type=canary")
        await page.get_by_role("link", name="canary: RuntimeError").click()
        await page.get_by_role("button", name="Try a few first").click()
        site.tasks.broken.discard("canary")
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("heading")).to_contain_text("Replay 20 dead letters?")
        await dialog.get_by_role("button", name="Try 10 % first").click()
        card = page.get_by_role("status", name="Replay dead letters")
        await expect(card).to_contain_text("20 of 20 done")
        await expect(card).to_contain_text("2 of 2 succeeded")
        await page.get_by_text("No failure with this cause is left").wait_for()


async def test_all_failures_that_match_a_filter_are_replayed_together(site: Site) -> None:
    tenant_id = site.server.tenant.tenant_id
    reports = [Report(month=f"oak {place}") for place in ("west", "east", "east")]
    await site.tasks.bill.enqueue_many(reports, tenant_id=tenant_id)

    async def counts() -> list[int]:
        async with site.server.client() as client:
            found = await client.get("/v1/failures", params={"q": "list for oak"})
        return sorted(group["count"] for group in found.json()["items"])

    async def all_dead() -> bool:
        return await counts() == [1, 2]

    await eventually(all_dead, within=60, every=0.2, what="three dead letters of two causes")
    async with site.visit() as page:
        await page.goto("/failures?q=list+for+oak")
        site.tasks.broken.discard("bill")
        try:
            await page.get_by_role("button", name="Replay all 3 dead letters").click()
            dialog = page.get_by_role("dialog")
            await expect(dialog.get_by_role("heading")).to_contain_text("Replay 3 dead letters?")
            await dialog.get_by_role("button", name="Replay 3 dead letters").click()
            card = page.get_by_role("status", name="Replay dead letters")
            await expect(card).to_contain_text("3 of 3 done")
            await page.get_by_text("No failure matches").wait_for()
        finally:
            site.tasks.broken.add("bill")


async def test_a_process_shows_its_attempts_and_its_supervisor(site: Site) -> None:
    async with site.server.engine.tenants.transaction(site.server.tenant.tenant_id) as connection:
        await connection.execute(
            "select comms.kickoff_send_sms(comms.create_sms_message('+4930123456', 'hi'))"
        )
    async with site.visit() as page:
        await page.goto("/processes?state=open")
        await page.get_by_role("link", name="comms.send_sms").first.click()
        await heading(page, "comms.send_sms")
        await expect(page.get_by_role("table", name="Attempts")).to_contain_text("failed")
        await site.shoot(page, "process-light")
        await page.get_by_role("link", name=re.compile(r"^task \d+$")).click()
        await expect(page).to_have_url(re.compile(r"/tasks/\d+$"))


async def test_workers_and_schedules_are_shown_and_a_schedule_runs_now(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/workers")
        await expect(page.get_by_role("table", name="Workers")).to_contain_text("alive")
        await page.get_by_role("link", name="Schedules").click()
        schedules = page.get_by_role("table", name="Schedules")
        own = schedules.get_by_role("row").filter(has_text="maintain-documents")
        await own.get_by_role("button", name="Switch off").click()
        await own.get_by_role("button", name="Switch on").click()
        await own.get_by_role("button", name="Run now").click()
        await page.locator(".toast a").click()
        await heading(page, "maintain-documents")


async def test_a_saved_view_is_there_for_the_whole_team(site: Site) -> None:
    async with site.visit("admin", "acme") as page:
        await page.goto("/failures?kind=task")
        await page.get_by_role("button", name="Saved views").click()
        await page.get_by_role("button", name="Save this filter").click()
        await page.get_by_role("dialog").get_by_label("Name").fill("Dead letters only")
        await page.get_by_role("button", name="Save for the team").click()
        await page.get_by_role("dialog").wait_for(state="hidden")
    async with site.visit("viewer", "acme") as page:
        await page.goto("/failures")
        await page.get_by_role("button", name="Saved views").click()
        await page.get_by_role("button", name="Dead letters only").click()
        await expect(page).to_have_url(re.compile(r"/failures\?kind=task$"))


async def test_a_viewer_sees_everything_and_finds_no_button_that_acts(site: Site) -> None:
    task_id = await dead_task(site, "report")
    async with site.visit("viewer", "acme") as page:
        for path in ("/queues/reports", "/tasks?state=dead", f"/tasks/{task_id}", "/failures", "/workers"):
            await page.goto(path)
            await page.locator("h1").wait_for()
            await expect(page.locator(".loading")).to_have_count(0)
            acting = re.compile("Pause$|Limits|Enqueue|Cancel|Reveal|Run |Replay|Purge|Switch")
            await expect(page.locator("main").get_by_role("button", name=acting)).to_have_count(0)
            await expect(page.locator("main").get_by_role("checkbox")).to_have_count(0)


async def test_the_console_works_below_a_path_with_deep_links_and_live(
    site: Site, database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, api_prefix="/tools") as server:
        context = await site.browser.new_context(base_url=server.url)
        try:
            page = await context.new_page()
            await page.goto("/tools/queues?x=1")  # asks to sign in first, then goes on where the link led
            await page.get_by_label("API key").fill(server.key)
            await page.get_by_role("button", name="Sign in").click()
            await expect(page).to_have_url(f"{server.url}/tools/queues?x=1")
            await heading(page, "Queues")
            await live(page)
            await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Workers").click()
            await expect(page).to_have_url(f"{server.url}/tools/workers")
            await page.reload()
            await heading(page, "Workers")
        finally:
            await context.close()


async def test_an_unknown_page_and_an_unknown_task_say_so_and_the_side_bar_works_on(site: Site) -> None:
    async with site.visit(watch=False) as page:
        await page.goto("/tasks/999999999")
        await expect(page.get_by_role("alert")).to_contain_text("999999999")
        await page.goto("/nothing/here")
        await page.get_by_text("There is no such page").wait_for()
        await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Processes").click()
        await heading(page, "Processes")
