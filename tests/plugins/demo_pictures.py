"""Pictures of the demo's console, taken in a real browser: what README and docs show."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.plugins.chromium import FLAGS
from tests.plugins.console import CHROMIUM, DIST, ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

VARIABLE: Final = "CONSOLE_PICTURES"
"""Where `make screenshots` has them kept; without it they go to build/screenshots."""

SIZE: Final[ViewportSize] = {"width": 1280, "height": 800}


def can_be_taken() -> bool:
    """Whether there is a console and a browser."""
    return CHROMIUM is not None and (DIST / "index.html").is_file()


def take_pictures(link: str) -> dict[str, str]:
    """Sign in by the link, as a newcomer would, and look at the pages; returns the text on each."""
    from playwright.sync_api import expect, sync_playwright

    folder = Path(os.environ.get(VARIABLE, ROOT / "build" / "screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    base, texts = link.partition("/login/")[0], {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
            page.set_default_timeout(30_000)
            page.goto(link)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(f"{base}/")
            page.get_by_text("The path of a document").wait_for()
            if VARIABLE in os.environ:
                # The history has a sample for each minute; the rate is that of minutes that are over.
                expect(page.locator("main")).to_contain_text(re.compile(r"rate\s*[1-9]"), timeout=240_000)
            texts["overview"] = _kept(page, folder, "overview")
            page.goto(f"{base}/documents?q=invoice-4711")
            page.get_by_text("invoice-4711.pdf").first.click()
            page.get_by_role("img", name="Page 1").first.wait_for()
            texts["document"] = _kept(page, folder, "document")
            page.goto(f"{base}/sources")
            page.get_by_text("outlook", exact=False).first.wait_for()
            texts["sources"] = _kept(page, folder, "sources")
        finally:
            browser.close()
    return texts


def _kept(page: Page, folder: Path, name: str) -> str:
    from playwright.sync_api import expect

    expect(page.locator(".loading")).to_have_count(0)
    page.screenshot(path=folder / f"console-{name}.png")
    return page.locator("main").inner_text()
