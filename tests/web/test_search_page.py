"""The search playground, in a browser: score parts, context, latency, two settings side by side."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.plugins.console import Site
from tests.web.uploading import handbook, upload

pytestmark = pytest.mark.timeout(120)


async def test_hits_show_the_parts_of_their_score_and_the_passage_in_its_context(site: Site) -> None:
    await upload(site, "search-handbook.pdf", handbook(), "application/pdf")
    async with site.visit(tenant="acme") as page:
        await page.goto("/search")
        await page.get_by_label("Question").fill("penstock water dawn")
        await page.keyboard.press("Enter")
        hit = page.locator(".hit", has_text="search-handbook.pdf").first
        await hit.wait_for()
        assert "q=penstock" in page.url
        parts = await hit.locator(".parts").inner_text()
        for name in ("meaning", "words", "together"):
            assert name in parts
        assert await hit.locator("mark").count() > 0
        assert " ms" in await page.locator(".took").first.inner_text()
        await hit.get_by_role("button", name="Show in context").click()
        await hit.locator(".context-here").wait_for()
        await hit.get_by_role("link", name="search-handbook.pdf").click()
        await page.locator(".chunk.chosen").wait_for()
        await page.go_back()
        await hit.wait_for()


async def test_two_settings_are_compared_for_one_question(site: Site) -> None:
    await upload(site, "compared.txt", "The saw is driven by the wheel of the mill.")
    async with site.visit(tenant="acme") as page:
        await page.goto("/search?q=wheel+of+the+mill")
        await page.get_by_label("Compare two settings").check()
        right = page.get_by_role("region", name="Right")
        await right.locator(".hit").first.wait_for()
        assert await right.get_by_text("words only").count() == 1
        assert "not searched" in await right.locator(".hit").first.inner_text()
        await right.get_by_label("Search by").select_option("vector")
        await page.wait_for_url("**b.mode=vector**")
        await right.get_by_label("Results").select_option("5")
        await page.reload()
        await page.get_by_role("region", name="Right").locator(".hit").first.wait_for()
        assert await page.get_by_role("region", name="Right").locator(".hit").count() <= 5
        left = page.get_by_role("region", name="Left")
        await left.get_by_label("Minimum relevance").select_option("0.9")
        await left.locator(".took").wait_for()


async def test_a_hit_shows_the_headings_inside_its_passage(site: Site) -> None:
    parts = ["Winch", "Sluice", "Ladder", "Railing", "Lantern"]
    sections = "\n\n".join(f"## {part}\n\nThe {part} is old." for part in parts)
    text = f"# Inventory of the weir\n\nIt was made in May.\n\n{sections}"
    await upload(site, "inventory.md", text, "text/markdown")
    async with site.visit(tenant="acme") as page:
        await page.goto("/search?q=inventory+of+the+weir+ladder")
        hit = page.locator(".hit", has_text="inventory.md").first
        headings = hit.locator(".heading-path")
        await expect(headings.first).to_have_text("Inventory of the weir")
        await expect(headings.nth(1)).to_have_text("also: Winch · Sluice · Ladder and 2 more")
        title = await headings.nth(1).get_attribute("title") or ""
        assert len(title.splitlines()) == len(parts)
        assert title.endswith("Lantern")
