"""The console's long lists in a real browser: when the first rows show, and how smoothly they scroll."""

from __future__ import annotations

import asyncio
import sys
from time import perf_counter
from typing import Final

from bench.job import Figures
from bench.workloads import Column, Medians, Verdict
from penstock.accounts import Sessions
from penstock.db.tenancy import TenantPool
from tests.plugins.chromium import FLAGS, chromium

PAGES: Final = {"tasks": "/tasks?state=ready", "documents": "/documents"}
ROW: Final = ".vtable-body .vtable-row"
SCROLLED_SECONDS: Final = 6
FIRST_ROWS_MS: Final = 1_000.0
FRAMES: Final = 50.0
COUNT: Final = """seconds => new Promise(done => {
  const began = performance.now();
  let frames = 0;
  const next = now => {
    frames += 1;
    if (now - began < seconds * 1000) requestAnimationFrame(next);
    else done(frames * 1000 / (now - began));
  };
  requestAnimationFrame(next);
})"""


class Lists:
    name = "lists"
    title = "Long lists in Chromium"
    columns = (
        Column("first_rows_ms", "first rows, ms"),
        Column("frames", "frames/s while scrolling", 1),
        Column("rows", "rows loaded"),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        first = max(figures["first_rows_ms"] for figures in medians.values())
        frames = min(figures["frames"] for figures in medians.values())
        return [
            Verdict("First rows, ms", first, FIRST_ROWS_MS, at_least=False),
            Verdict("Frames per second", frames, FRAMES),
        ]


async def lists_in_a_browser(
    url: str, operator_url: str, tenant: str, repeats: int
) -> dict[str, list[Figures]]:
    """Empty, with a line that says why, where there is no browser."""
    program = chromium()
    try:
        from playwright.async_api import Page, async_playwright
    except ImportError:
        program = None
    if program is None:
        print("No Chromium or no Playwright here: the lists are not measured.", file=sys.stderr)
        return {}
    pool = await TenantPool.open(operator_url, application_name="bench", size=1)
    try:
        link = await Sessions(pool).create_link("bench", "admin", tenant)
    finally:
        await pool.close()

    async def measured(page: Page, path: str) -> Figures:
        await page.goto("about:blank")
        began = perf_counter()
        await page.goto(url + path, wait_until="commit")
        await page.locator(ROW).first.wait_for()
        first = (perf_counter() - began) * 1_000
        box = await page.locator(ROW).first.bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 40, box["y"] + 5)
        counting = asyncio.ensure_future(page.evaluate(COUNT, SCROLLED_SECONDS))
        ends = perf_counter() + SCROLLED_SECONDS
        while perf_counter() < ends:
            await page.mouse.wheel(0, 600)
            await asyncio.sleep(0.05)
        frames = float(await counting)
        rows = await page.locator(ROW).last.get_attribute("aria-rowindex")
        return {"first_rows_ms": first, "frames": frames, "rows": float(rows or 0)}

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            page = await browser.new_page(viewport={"width": 1280, "height": 900})
            await page.goto(f"{url}/login/{link.token}")
            await page.get_by_role("button", name="Sign in").click()
            await page.wait_for_url(f"{url}/")
            return {
                name: [await measured(page, path) for _ in range(repeats)] for name, path in PAGES.items()
            }
        finally:
            await browser.close()
