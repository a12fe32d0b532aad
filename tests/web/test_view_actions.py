"""Saved views are changed and deleted; the search playground by project, type and model."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import expect

from penstock.simulators import EmbeddingsSimulator, serving
from penstock.simulators.embeddings import KEY
from tests.integration.api_server import api_server
from tests.plugins.console import Site
from tests.plugins.database import Database


async def test_a_saved_view_takes_the_present_filter_and_is_deleted_for_the_whole_team(site: Site) -> None:
    _, key = await site.server.another_tenant("lookout")
    body = {"page": "documents", "name": "Broken", "query": "?status=failed"}
    async with site.server.client(key) as client:
        assert (await client.post("/v1/views", json=body)).status_code == 201
    async with site.visit("operator", "lookout") as page:
        menu = page.get_by_role("button", name="Saved views")
        await page.goto("/documents?status=skipped&sort=oldest&sel=all")
        await menu.click()
        await page.get_by_role("button", name="Save the current filter as Broken").click()
        await expect(page.locator(".toasts")).to_contain_text("Saved")
        await page.goto("/documents")
        await menu.click()
        await page.get_by_role("button", name="Broken", exact=True).click()
        await expect(page).to_have_url(f"{site.server.url}/documents?sort=oldest&status=skipped")
    async with (
        site.visit("viewer", "lookout") as reader,
        site.visit("operator", "lookout") as page,
    ):
        theirs = reader.get_by_role("button", name="Broken", exact=True)
        await reader.goto("/documents")
        await expect(reader.locator("button.live")).to_contain_text("Live")
        await reader.get_by_role("button", name="Saved views").click()
        await theirs.wait_for()
        await expect(reader.get_by_role("button", name=re.compile("Delete the view|Save "))).to_have_count(0)
        await page.goto("/documents")
        await page.get_by_role("button", name="Saved views").click()
        await page.get_by_role("button", name="Delete the view Broken").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete 1 view").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(theirs).to_have_count(0)  # without a reload


async def test_a_search_is_narrowed_to_a_project_and_a_type_and_two_models_are_compared(
    site: Site, database: Database, tmp_path: Path
) -> None:
    async with (
        serving(EmbeddingsSimulator().app) as url,
        api_server(database, tmp_path, openai_base_url=f"{url}/v1", openai_api_key=KEY) as server,
        server.working(),
    ):
        async with server.client() as client:
            made = await client.post("/v1/projects", json={"slug": "north", "embedder": "openai"})
            assert made.status_code == 201, made.text
            for project, name, kind in (
                ("default", "south.txt", "text/plain"),
                ("north", "north.txt", "text/plain"),
                ("north", "north.md", "text/markdown"),
            ):
                answer = await client.post(
                    "/v1/documents/upload",
                    params={"wait": 30},
                    data={"project": project},
                    files={"file": (name, f"The weir in {name} is old.".encode(), kind)},
                )
                assert answer.json()["document"]["status"] == "indexed", answer.text
        context = await site.browser.new_context(base_url=server.url, reduced_motion="reduce")
        try:
            page = await context.new_page()
            await page.goto("/search?q=weir")
            await page.get_by_label("API key").fill(server.key)
            await page.get_by_role("button", name="Sign in").click()
            hits = page.get_by_role("region", name="Results").locator(".hit")
            await expect(hits).to_have_count(3)
            await page.get_by_role("combobox", name="Project", exact=True).select_option("north")
            await expect(hits).to_have_count(2)
            await page.get_by_role("combobox", name="Type", exact=True).select_option("Markdown")
            await expect(hits).to_have_count(1)
            await expect(hits).to_contain_text("north.md")
            await expect(page).to_have_url(re.compile(r"a\.project=north&a\.type=text%2Fmarkdown"))
            await page.reload()
            await expect(hits).to_have_count(1)

            await page.goto("/search?q=weir&compare=1")
            for side, model in (("Left", "wordllama"), ("Right", "openai")):
                region = page.get_by_role("region", name=side)
                await region.get_by_label("Search by").select_option("meaning")
                await region.get_by_label("Model").select_option(model)
                await expect(region.locator(".took")).to_contain_text(model)
            left, right = (
                page.get_by_role("region", name=side).locator(".hit") for side in ("Left", "Right")
            )
            await expect(left).to_have_count(1)
            await expect(left).to_contain_text("south.txt")
            await expect(right).to_have_count(2)
            await expect(page).to_have_url(re.compile(r"a\.embedder=wordllama.*b\.embedder=openai"))
        finally:
            await context.close()
