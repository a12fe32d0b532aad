"""Pages of single things, their dialogs, and the sign-in page: labels, contrast in both themes, a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from playwright.async_api import expect

from penstock.model import uuid7
from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.plugins.workers import eventually
from tests.web.acting import dead_letters
from tests.web.detail_pages import details
from tests.web.settling import COUNT_REQUESTS, settled
from tests.web.test_console_accessibility import FAULTS
from tests.web.test_phone import SIDEWAYS
from tests.web.uploading import upload

if TYPE_CHECKING:
    from playwright.async_api import Page, ViewportSize

pytestmark = pytest.mark.timeout(300)

DESK: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 360, "height": 780}
# What opens a dialog on a page whose path begins like this.
DIALOGS: Final = {
    "/documents/": "Delete …",
    "/sources/": "Disconnect …",
    "/clients/": "Join with another …",
    "/tasks/": "Replay …",
    "/queues/": "Enqueue …",
    "/failures/": "Try a few first …",
    "/processes/": "Start again …",
    "/access/keys": "Create a key",
}
CALM = "() => window.__waiting === 0 && document.querySelector('.loading') === null"


class Looker:
    """Notes the faults of what a page shows now, by name."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.found: dict[str, list[str]] = {}

    async def look(self, name: str) -> None:
        page = self._page
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            self._note(f"{name}, {scheme}", await page.evaluate(FAULTS))
        await page.emulate_media(color_scheme="light")
        await page.set_viewport_size(PHONE)
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
        self._note(f"{name}, phone", await page.evaluate(SIDEWAYS))
        await page.set_viewport_size(DESK)

    def _note(self, name: str, faults: list[str]) -> None:
        if faults:
            self.found[name] = faults


async def looked_at(site: Site, paths: list[str], dialogs: dict[str, str], tenant: str | None) -> Looker:
    """Every page, and the dialog that one of its buttons opens."""
    async with site.visit(tenant=tenant, watch=False, viewport=DESK) as page:
        await page.add_init_script(COUNT_REQUESTS)
        looker, opened = Looker(page), set()
        for path in paths:
            await settled(page, path)
            await looker.look(path)
            for start, name in dialogs.items():
                button = page.locator("main").get_by_role("button", name=name)
                if start in opened or not path.startswith(start) or await button.count() == 0:
                    continue
                opened.add(start)
                await button.first.click()
                await page.get_by_role("dialog").wait_for()
                await eventually(lambda: page.evaluate(CALM), every=0.05, what=f"the dialog of {path}")
                await looker.look(f"the dialog of {path}")
        assert opened == set(dialogs)
    return looker


async def test_detail_pages_and_dialogs_are_labelled_stand_out_and_fit_a_phone(site: Site) -> None:
    tenant, key = await site.server.another_tenant("lookers")
    await site.tasks.report.enqueue_many([Report(month=n) for n in "xy"], tenant_id=tenant.tenant_id)
    task, _ = await dead_letters(site, key, 2)
    _, paths = await details(site, tenant, key, task)
    looker = await looked_at(site, [*paths, "/access/keys"], DIALOGS, "lookers")
    assert looker.found == {}
    looker = await looked_at(
        site,
        ["/queues/reports", "/access/tenants"],
        {"/queues/": "Limits …", "/access/tenants": "Create a tenant"},
        None,
    )
    assert looker.found == {}


async def test_the_sign_in_page_is_labelled_stands_out_and_fits_a_phone(site: Site) -> None:
    link = await site.sessions.create_link("somebody", "viewer", "acme")
    context = await site.browser.new_context(base_url=site.server.url, viewport=DESK)
    try:
        page = await context.new_page()
        looker = Looker(page)
        for path in ("/login", f"/login/{link.token}", "/login/no-such-link"):
            await page.goto(path)
            await looker.look(path)
        await page.goto("/login")
        await page.fill("input[name=key]", "pk_wrong")
        await page.press("input[name=key]", "Enter")
        await page.get_by_role("alert").wait_for()
        await looker.look("a key that is refused")
    finally:
        await context.close()
    assert looker.found == {}


async def test_pages_speak_to_people_and_their_controls_stand_in_line(site: Site) -> None:
    broken = await upload(site, "damaged.pdf", b"%PDF-1.4 damaged", "application/pdf")
    async with site.visit(tenant="acme", watch=False) as page:
        await page.add_init_script(COUNT_REQUESTS)
        await settled(page, f"/documents/{broken['document_id']}")
        main = page.locator("main")
        await expect(main.get_by_role("table", name="Requests to process it")).to_contain_text("API key")
        await expect(main).not_to_contain_text("key:")
        # The error is told once, with its remedy, and not again where the page would be drawn.
        await expect(main.get_by_role("alert")).to_have_count(0)
        await expect(main).to_contain_text("failed before it was divided into chunks")
        await settled(page, f"/documents/{uuid7()}")
        await expect(main.get_by_role("alert")).not_to_contain_text("document_id")
        await settled(page, "/documents")
        heights = await page.evaluate(
            "[...document.querySelectorAll('.filter-box, .filter > button, .sort select')]"
            ".map((each) => Math.round(each.getBoundingClientRect().height))"
        )
        assert len(heights) == 3
        assert len(set(heights)) == 1, heights
