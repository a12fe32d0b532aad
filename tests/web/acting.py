"""What tests of actions share: choose rows, press a button of the toolbar, confirm, wait for the receipt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.plugins.workers import eventually

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

    from tests.plugins.console import Site


async def choose_all(page: Page, label: str) -> None:
    """The box of the head chooses the rows shown, which are all there are."""
    await (
        page.get_by_role("table", name=label).get_by_role("checkbox", name=re.compile("^Select the")).check()
    )


async def ask(page: Page, button: str) -> Locator:
    """Press the button of the toolbar; the dialog that names the number."""
    await page.get_by_role("toolbar").get_by_role("button", name=button).click()
    return page.get_by_role("dialog")


async def act(page: Page, button: str, confirm: str, card: str, receipt: str) -> Locator:
    """Press the button of the toolbar, confirm the number it names, and wait for the receipt."""
    dialog = await ask(page, button)
    await dialog.get_by_role("button", name=confirm, exact=True).click()
    told = page.get_by_role("status", name=card)
    await expect(told).to_contain_text(receipt)
    return told


async def dead_letters(site: Site, key: str, count: int) -> list[int]:
    """The tenant's dead letters, as soon as there are this many."""
    found: list[int] = []

    async def all_dead() -> bool:
        async with site.server.client(key) as client:
            answer = await client.get("/v1/tasks", params={"state": "dead", "limit": 200})
        found[:] = [task["task_id"] for task in answer.json()["items"]]
        return len(found) == count

    await eventually(all_dead, within=60, every=0.2, what=f"{count} dead letters")
    return found
