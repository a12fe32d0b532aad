"""Every page in both themes and at phone width: nothing scrolls sideways but inside its own box."""

from __future__ import annotations

import pytest
from playwright.async_api import Route, expect

from tests.plugins.console import Site
from tests.web.settling import COUNT_REQUESTS, settled

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
    "schedules": "/schedules",
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
    options = {"viewport": {"width": 360, "height": 780}} if scheme == "phone" else {"color_scheme": scheme}
    wide = {}
    async with site.visit(watch=False, **options) as page:
        await page.add_init_script(COUNT_REQUESTS)
        for name, path in PAGES.items():
            await settled(page, path.format(**known), load=scheme == "light")
            await expect(page.locator(".loading")).to_have_count(0)
            await site.shoot(page, f"{name}-{scheme}")
            over = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                wide[name] = over
    assert wide == {}


MANY = 1_000_000
OTHER_YEAR = "2031-05-28T12:00:00Z"
"""Dates of another year are the longest."""
LONG = "The northern subsidiary with all of its annexes and appendices, " * 4


def exaggerated(value: object, key: str = "") -> object:
    """An answer of the API in which every number is a million and every name and expiry is long."""
    match value:
        case dict():
            return {name: exaggerated(inner, name) for name, inner in value.items()}
        case list():
            return [exaggerated(inner, key) for inner in value]
        case str() | None if key == "expires_at":
            return OTHER_YEAR
        case bool() | None:
            return value
        case int() if not key.endswith("_id") and key not in ("limit", "status"):
            return MANY
        case str() if key in ("name", "title", "error_message", "example_message", "by") and value:
            return LONG
    return value


CUT_OFF = """() => [
  ...document.querySelectorAll(".vtable-row .right, .figure-value, .group-count b, .row-actions")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1 || box.getClientRects().length > 1)
  .map((box) => box.textContent.slice(0, 60))"""


@pytest.mark.parametrize("width", [1280, 360])
async def test_a_million_and_long_names_are_neither_cut_off_nor_too_wide(site: Site, width: int) -> None:
    async def exaggerate(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json=exaggerated(await answer.json()))

    wrong = {}
    async with site.visit(tenant="acme", watch=False, viewport={"width": width, "height": 900}) as page:
        await page.add_init_script(COUNT_REQUESTS)
        for part in ("queues", "failures*", "workers*", "projects", "overview", "documents?*", "keys*"):
            await page.route(f"**/v1/{part}", exaggerate)
        for path in (
            "/",
            "/queues",
            "/failures",
            "/workers",
            "/schedules",
            "/documents",
            "/upload",
            "/access/keys",
        ):
            await settled(page, path)
            await expect(page.locator(".loading")).to_have_count(0)
            over = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            cut = await page.evaluate(CUT_OFF)
            if over > 0 or cut:
                wrong[path] = (over, cut)
    assert wrong == {}
