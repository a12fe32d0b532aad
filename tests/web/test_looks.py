"""Every page in both themes and at phone width: nothing scrolls sideways but inside its own box."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.plugins.console import Site

PAGES = {
    "overview": "/",
    "queues": "/queues",
    "queue": "/queues/reports",
    "tasks": "/tasks?state=dead",
    "tasks-ready": "/tasks?state=ready&sel=all",
    "task": "/tasks/{dead}",
    "compare": "/tasks/{dead}/compare",
    "failures": "/failures",
    "failure": "/failures/{group}",
    "workers": "/workers",
    "processes": "/processes",
    "operations": "/operations",
}


async def places(site: Site) -> dict[str, str]:
    """Ids of things that exist."""
    async with site.server.client() as client:
        dead = (await client.get("/v1/tasks", params={"state": "dead", "task_type": "report"})).json()[
            "items"
        ][0]
        group = (await client.get("/v1/failures")).json()["items"][0]
    return {"dead": str(dead["task_id"]), "group": group["group_id"]}


@pytest.mark.parametrize("scheme", ["light", "dark", "phone"])
async def test_every_page_fits(site: Site, scheme: str) -> None:
    known = await places(site)
    options = {"viewport": {"width": 390, "height": 844}} if scheme == "phone" else {"color_scheme": scheme}
    wide = {}
    async with site.visit(watch=False, **options) as page:
        for name, path in PAGES.items():
            await page.goto(path.format(**known))
            await page.locator("h1").wait_for()
            await expect(page.locator(".loading")).to_have_count(0)
            await site.shoot(page, f"{name}-{scheme}")
            over = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                wide[name] = over
    assert wide == {}
