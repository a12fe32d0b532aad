"""Open pages ask the server nothing while nothing changes, and show a change at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.integration.api_server import api_server
from tests.integration.console_client import make_link
from tests.plugins.console import Site
from tests.plugins.database import Database
from tests.web.settling import COUNT_REQUESTS, settled

if TYPE_CHECKING:
    from playwright.async_api import Page, Request

PATHS = (
    "/",
    "/queues",
    "/tasks",
    "/workers",
    "/schedules",
    "/sources",
    "/inlets",
    "/processes",
    "/failures",
    "/operations",
    "/access/audit",
    "/access/tenants",
)


async def test_open_pages_ask_nothing_while_nothing_changes(
    site: Site, database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, operator_url=database.operator_url) as server:
        context = await site.browser.new_context(base_url=server.url)
        try:
            first = await context.new_page()
            await first.goto(await make_link(server))
            await first.get_by_role("button", name="Sign in").click()
            await first.wait_for_url(f"{server.url}/")
            await context.add_init_script(COUNT_REQUESTS)
            await context.clock.install()
            pages: dict[str, Page] = {}
            for path in PATHS:
                pages[path] = await context.new_page()
                await settled(pages[path], path)
                await expect(pages[path].locator("button.live")).to_contain_text("Live")
            await first.close()
            asked: list[str] = []

            def note(request: Request) -> None:
                asked.append(f"{request.frame.url}: {request.url}")

            await asyncio.sleep(2)  # what opening the last page announced has been fetched
            context.on("request", note)
            await context.clock.fast_forward("05:00")  # every timer of five minutes
            await asyncio.sleep(2)  # the time that is measured: no page may ask in it
            assert asked == []
            async with server.client() as client:
                made = await client.post("/v1/projects", json={"slug": "letters"})
                assert made.status_code == 201, made.text
            await pages["/access/audit"].get_by_text("created a project").first.wait_for()
            assert asked
        finally:
            await context.close()
