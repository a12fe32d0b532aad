"""The operator's pages in a real browser: what they show, what they do, and that they live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.plugins.console import Site

if TYPE_CHECKING:
    from playwright.async_api import Page


async def heading(page: Page, text: str) -> None:
    await page.get_by_role("heading", name=text, level=1).wait_for()


async def test_the_overview_says_in_words_what_is_wrong_and_where_to_click(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/")
        verdict = page.get_by_role("status", name="Verdict")
        await verdict.get_by_text("dead letters").click()
        await heading(page, "Failures")
        await site.shoot(page, "x")
