"""On a phone nothing scrolls sideways: no page, and no box on any page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.plugins.console import Site
from tests.web.detail_pages import LONG, one_of_each
from tests.web.settling import COUNT_REQUESTS, settled
from tests.web.uploading import upload

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.timeout(300)

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 780}}
LISTS = (
    "/",
    "/documents",
    "/upload",
    "/sources",
    "/sources/connect",
    "/sources/skipped",
    "/clients",
    "/queues",
    "/queues/reports",
    "/tasks?state=dead",
    "/failures",
    "/workers",
    "/schedules",
    "/inlets",
    "/processes",
    "/operations",
    "/access/keys",
    "/access/sessions",
    "/access/audit",
)
SIDEWAYS = """() => [...document.querySelectorAll("*")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1 && (
    box === document.documentElement || /auto|scroll/.test(getComputedStyle(box).overflowX)))
  .map((box) => `${box.tagName}.${box.className}: ${box.scrollWidth} in ${box.clientWidth}`)"""


async def sideways(page: Page, path: str) -> list[str]:
    await settled(page, path)
    return list(await page.evaluate(SIDEWAYS))


async def test_nothing_scrolls_sideways_on_a_phone(site: Site) -> None:
    tenant, key = await site.server.another_tenant("narrows")
    async with site.server.database.connect("admin") as admin:
        known = await one_of_each(admin, tenant)
    document = await upload(site, f"{LONG}.txt", f"# {LONG}\n\n{LONG}", key=key)
    async with site.server.client(key) as client:
        made = await client.post("/v1/clients", json={"name": LONG, "key_facts": {LONG: LONG}})
        assert made.status_code == 201, made.text
        clients = (await client.get("/v1/clients?limit=100")).json()["items"]
    async with site.server.client() as client:
        dead = (await client.get("/v1/tasks?state=dead&task_type=report")).json()["items"][0]["task_id"]
        group = (await client.get("/v1/failures")).json()["items"][0]["group_id"]
    ones = [
        f"/documents/{document['document_id']}?chunk=0",
        f"/sources/{known['source']}",
        *(f"/clients/{each['client_id']}" for each in clients),
        f"/processes/{known['process']}",
        f"/operations/{known['operation']}",
        f"/inlets/{known['inlet']}",
    ]
    wide: dict[str, list[str]] = {}
    async with site.visit(tenant="narrows", watch=False, **PHONE) as page:
        await page.add_init_script(COUNT_REQUESTS)
        for path in (*LISTS, *ones):
            wide[path] = await sideways(page, path)
            if "clients/" in path or "sources/" in path or "processes/" in path or "inlets" in path:
                await site.shoot(page, "phone-" + path.strip("/").split("/")[0])
    async with site.visit(watch=False, **PHONE) as page:
        await page.add_init_script(COUNT_REQUESTS)
        for path in (
            f"/tasks/{dead}",
            f"/tasks/{dead}/compare",
            f"/failures/{group}",
            "/queues",
            "/access/tenants",
        ):
            wide[path] = await sideways(page, path)
    context = await site.browser.new_context(base_url=site.server.url, **PHONE)
    try:
        nobody = await context.new_page()
        await nobody.goto("/login")
        wide["/login"] = list(await nobody.evaluate(SIDEWAYS))
    finally:
        await context.close()
    assert {path: found for path, found in wide.items() if found} == {}
