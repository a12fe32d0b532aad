"""The pages about documents, in a browser: upload, list, filter, one document, its pages and its timeline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from tests.plugins.console import Site
from tests.plugins.workers import eventually
from tests.web.uploading import handbook, upload

if TYPE_CHECKING:
    from playwright.async_api import FilePayload

GATE: FilePayload = {
    "name": "gate.txt",
    "mimeType": "text/plain",
    "buffer": b"The gate was repaired in March.",
}

pytestmark = pytest.mark.timeout(120)


async def test_a_file_is_uploaded_and_followed_to_searchable_without_a_reload(site: Site) -> None:
    async with site.visit(tenant="acme") as page:
        await page.goto("/documents")
        await page.get_by_role("heading", name="Documents", level=1).wait_for()
        await expect(page.locator("button.live")).to_contain_text("Live")
        await page.evaluate("window.__mark = true")
        await page.get_by_label("Files to upload").set_input_files(GATE)
        line = page.locator(".upload-line", has_text="gate.txt")
        await page.locator(".upload-line[data-status=indexed]", has_text="gate.txt").wait_for()
        assert await line.locator(".way-step.done").count() == 4
        await page.locator(".vtable [role=row]", has_text="gate.txt").wait_for()
        # Another program's upload shows up by itself.
        await upload(site, "from-elsewhere.txt", "Somebody else sent this.")
        await page.locator(".vtable [role=row]", has_text="from-elsewhere.txt").wait_for()
        # The same content again is told apart from a new document.
        await page.get_by_label("Files to upload").set_input_files(GATE)
        await page.get_by_text("already indexed").wait_for()
        assert await page.evaluate("window.__mark === true"), "the page was reloaded"


async def test_files_are_uploaded_by_dropping_them_on_the_page(site: Site) -> None:
    async with site.visit(tenant="acme") as page:
        await page.goto("/upload")
        await page.get_by_text("Drop files anywhere").wait_for()
        dropped = await page.evaluate_handle(
            "() => { const data = new DataTransfer();"
            " data.items.add(new File(['The dropped words.'], 'dropped.txt', {type: 'text/plain'}));"
            " return data; }"
        )
        for event in ("dragenter", "dragover", "drop"):
            await page.dispatch_event(".drop", event, {"dataTransfer": dropped})
        await page.locator(".upload-line[data-status=indexed]", has_text="dropped.txt").wait_for()


async def test_the_filter_stands_in_the_url_and_the_counts_agree_with_the_list(site: Site) -> None:
    broken = await upload(site, "filtered-broken.pdf", b"%PDF-1.4 not a pdf", "application/pdf")
    assert broken["status"] == "failed"
    await upload(site, "filtered-fine.txt", "These words are fine.")
    async with site.visit(tenant="acme") as page:
        await page.goto("/documents?q=filtered")
        row = page.locator(".vtable-body [role=row]")
        await row.nth(1).wait_for()
        assert await row.count() == 2
        failed = page.get_by_role("group", name="Documents by status").get_by_role("button", name="failed")
        await eventually(
            lambda: page.evaluate("document.querySelectorAll('.rail-count')[5].textContent === '1'")
        )
        await failed.click()
        await eventually(lambda: _is(row.count(), 1))
        assert "status=failed" in page.url
        assert "q=filtered" in page.url
        await page.reload()
        await row.first.wait_for()
        assert await row.count() == 1
        await page.go_back()
        await eventually(lambda: _is(row.count(), 2))
        await page.goto("/documents?q=no-such-name-anywhere")
        await page.get_by_text("No document matches").wait_for()


async def _is(counted: object, expected: int) -> bool:
    return await counted == expected  # type: ignore[misc, no-any-return]  # what a locator's count() returns


async def test_a_failed_document_says_why_and_can_be_retried_and_deleted(site: Site) -> None:
    broken = await upload(site, "torn.pdf", b"%PDF-1.4 torn", "application/pdf")
    # Its pages cannot be drawn, which the browser notes as an error of a request.
    async with site.visit(tenant="acme", watch=False) as page:
        await page.goto(f"/documents/{broken['document_id']}")
        await page.locator(".trouble.bad").get_by_text(re.compile("PDF")).first.wait_for()
        timeline = page.get_by_role("region", name="Timeline")
        await timeline.get_by_text("waiting").first.wait_for()
        assert await timeline.locator(".step.bad").count() >= 1
        error = await timeline.locator(".step.bad").first.inner_text()
        assert error.lower().count("upload the complete file") == 1, "an error says its remedy, once"
        await page.get_by_role("button", name="Retry").click()
        await page.get_by_text("Processing it again.").wait_for()
        await page.get_by_role("button", name="Retry").wait_for()
        await page.get_by_role("button", name="Delete …").click()
        await page.get_by_role("button", name="Delete 1 document").click()
        await page.wait_for_url("**/documents")
    async with site.server.client() as client:
        assert (await client.get(f"/v1/documents/{broken['document_id']}")).status_code == 404


async def test_a_pdfs_page_is_shown_beside_the_chunk_that_came_from_it(site: Site) -> None:
    document = await upload(site, "handbook.pdf", handbook(), "application/pdf")
    async with site.visit(tenant="acme") as page:
        await page.goto(f"/documents/{document['document_id']}")
        image = page.locator(".page-image")
        await eventually(lambda: page.evaluate("document.querySelector('.page-image')?.naturalWidth > 300"))
        await page.locator(".chunk-head", has_text="p. 2").first.click()
        await page.wait_for_url("**page=2**")
        assert "/pages/2" in (await image.get_attribute("src") or "")
        await eventually(lambda: page.evaluate("document.querySelector('.page-image')?.naturalWidth > 300"))
        chosen = page.locator(".chunk.chosen")
        assert "Penstock 2" in await chosen.inner_text()
        # The address leads another person to the same chunk.
        await page.reload()
        await chosen.wait_for()
        await page.get_by_role("tab", name="Parsed text").click()
        await page.locator(".beside pre", has_text="Penstock 3").wait_for()
        await page.get_by_role("button", name="Re-index").click()
        await page.get_by_text("Re-indexing it.").wait_for()


async def test_everything_that_matches_is_acted_on_after_its_number_was_named(site: Site) -> None:
    for n in range(3):
        await upload(site, f"bulky-{n}.txt", f"Bulky words number {n}.")
    async with site.visit(tenant="acme") as page:
        await page.goto("/documents?q=bulky-&sel=all")
        await page.get_by_role("button", name="Delete 3").click()
        await page.get_by_role("button", name="Delete 3 documents").click()
        card = page.locator(".operation-card")
        await card.get_by_text("3 of 3 done").wait_for()
        await page.get_by_text("No document matches").wait_for()
