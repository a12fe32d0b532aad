"""The operator's pages in a real browser: what they show, what they do, and that they live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.plugins.console import Site
from tests.plugins.console_data import Report

if TYPE_CHECKING:
    from playwright.async_api import Page


async def heading(page: Page, text: str) -> None:
    await page.get_by_role("heading", name=text, level=1).wait_for()


async def live(page: Page) -> None:
    """The event stream is open."""
    await expect(page.locator("button.live")).to_contain_text("Live")


async def test_the_overview_says_in_words_what_is_wrong_and_where_to_click(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/")
        verdict = page.get_by_role("status", name="Verdict")
        await verdict.get_by_text("dead letter").click()
        await heading(page, "Failures")
        await expect(page).to_have_url(f"{site.server.url}/failures?kind=task")
        await page.go_back()
        await heading(page, "Overview")
        await page.get_by_role("link", name="Received").click()
        await heading(page, "Documents")


async def test_a_list_changes_without_a_reload_when_work_arrives(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/tasks?state=ready&queue=archive")
        await live(page)
        mark = await page.evaluate("window.untouched = Math.random()")
        task_id = await site.tasks.archive.enqueue(
            Report(month="live"), tenant_id=site.server.tenant.tenant_id
        )
        await page.locator(f"[data-key='{task_id}']").wait_for()
        assert await page.evaluate("window.untouched") == mark
