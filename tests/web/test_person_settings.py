"""What a person sets for themselves: theme and time zone; keys that lead through the pages; signing out."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from playwright.async_api import expect

from tests.plugins.console import Site
from tests.plugins.console_data import Report

if TYPE_CHECKING:
    from playwright.async_api import Page

OPEN_SESSIONS = """
select count(*) from accounts.session s join accounts.tenant t using (tenant_id)
where t.slug = $1 and s.revoked_at is null
"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


async def settings_of(page: Page) -> None:
    await page.get_by_role("button", name="You and your settings").click()


async def test_the_theme_is_light_dark_or_the_systems_and_stays_after_a_reload(site: Site) -> None:
    await site.server.another_tenant("lantern")
    async with site.visit("viewer", "lantern", color_scheme="light") as page:
        await page.goto("/documents")
        light = await page.evaluate(BACKGROUND)
        await settings_of(page)
        await page.get_by_label("Theme").select_option("Dark")
        dark = await page.evaluate(BACKGROUND)
        assert dark != light
        await page.reload()
        await page.get_by_role("heading", name="Documents", level=1).wait_for()
        assert await page.evaluate(BACKGROUND) == dark
        await page.emulate_media(color_scheme="dark")
        await settings_of(page)
        await page.get_by_label("Theme").select_option("Light")
        assert await page.evaluate(BACKGROUND) == light, "the person's choice wins over the system"
        await page.get_by_label("Theme").select_option("System")
        assert await page.evaluate(BACKGROUND) == dark
        await page.keyboard.press("Escape")
        await page.locator("h1").click()
        await page.keyboard.press("t")  # system, light, dark
        await expect(page.locator("html")).to_have_attribute("data-theme", "light")


async def test_times_are_in_the_readers_zone_with_utc_on_hover_and_in_utc_on_demand(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("sundial")
    task_id = await site.tasks.idle.enqueue(Report(month="noon"), tenant_id=tenant.tenant_id)
    async with site.visit("viewer", "sundial", timezone_id="Asia/Tokyo") as page:
        await page.goto(f"/tasks/{task_id}")
        shown = page.get_by_role("region", name="Task").locator("time").first
        at = datetime.fromisoformat(await shown.get_attribute("datetime") or "").astimezone(UTC)
        there = at.astimezone(ZoneInfo("Asia/Tokyo"))
        await expect(shown).to_contain_text(f"{there:%H:%M:%S}")
        hover = await shown.get_attribute("title") or ""
        assert f"{there:%H:%M:%S} (Asia/Tokyo)" in hover
        assert f"{at:%Y-%m-%d %H:%M:%S} UTC" in hover
        await settings_of(page)
        await page.get_by_label("Times in").select_option("UTC")
        await expect(shown).to_contain_text(f"{at:%H:%M:%S}")
        await page.reload()
        await expect(shown).to_contain_text(f"{at:%H:%M:%S} UTC")


async def test_keys_lead_to_documents_queues_search_and_the_list_of_keys(site: Site) -> None:
    await site.server.another_tenant("keystone")
    async with site.visit("viewer", "keystone") as page:
        await page.goto("/")
        await page.get_by_role("heading", name="Overview", level=1).wait_for()
        for keys, title in (("gd", "Documents"), ("gq", "Queues")):
            await page.keyboard.type(keys)
            await page.get_by_role("heading", name=title, level=1).wait_for()
        await page.keyboard.press("/")
        await expect(page.get_by_role("combobox", name="Filter")).to_be_focused()
        await page.keyboard.type("gd")  # is text in a field
        await expect(page).to_have_url(f"{site.server.url}/queues")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await page.keyboard.press("?")
        sheet = page.get_by_role("dialog", name="Keyboard")
        await expect(sheet).to_contain_text("Documents")
        await page.keyboard.type("gd")  # the sheet is open
        await expect(page).to_have_url(f"{site.server.url}/queues")
        await page.keyboard.press("Escape")
        await expect(sheet).to_have_count(0)
        await page.keyboard.type("go")
        await page.get_by_role("heading", name="Overview", level=1).wait_for()
        await page.keyboard.press("/")
        await expect(page.get_by_label("Question")).to_be_focused()


async def test_somebody_signs_in_by_a_link_once_and_out_and_is_asked_to_sign_in_again(site: Site) -> None:
    await site.server.another_tenant("wicket")
    link = await site.sessions.create_link("ada", "viewer", "wicket")
    context = await site.browser.new_context(base_url=site.server.url)
    try:
        page = await context.new_page()
        await page.goto(f"/login/{link.token}")
        await page.get_by_role("button", name="Sign in").click()
        await page.get_by_role("heading", name="Overview", level=1).wait_for()
        await settings_of(page)
        await page.get_by_role("button", name="Sign out").click()
        await expect(page).to_have_url(re.compile("/login$"))
        await page.goto("/documents")
        await page.get_by_label("API key").wait_for()
        assert (await page.request.get("/v1/documents")).status == 401
        await page.goto(f"/login/{link.token}")
        await page.get_by_role("button", name="Sign in").click()
        await page.get_by_text("The link was used already").wait_for()
    finally:
        await context.close()
    async with site.server.database.connect("admin") as admin:
        assert await admin.fetchval(OPEN_SESSIONS, "wicket") == 0
