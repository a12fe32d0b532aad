"""Parts of documents in a browser: marks, pages, previews, downloads; their project, and which stay."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.async_api import expect

from tests.plugins.console import Site
from tests.plugins.workers import eventually
from tests.web.acting import act
from tests.web.uploading import handbook, upload

if TYPE_CHECKING:
    from playwright.async_api import FilePayload

SENTENCES = [f"Sentence {n} says how high the water 🌊 stood in year {1000 + n}." for n in range(700)]
# Copies of its last chunk: a document of many chunks without their embeddings.
MORE_CHUNKS = """
insert into ingest.chunk
select (jsonb_populate_record(
  c, jsonb_build_object('ordinal', n, 'chunk_id', internal.uuid7(), 'text', 'Planted ' || n))).*
from ingest.chunk c cross join generate_series(c.ordinal + 1, 250) n
where c.document_id = $1 and c.ordinal = (select max(o.ordinal) from ingest.chunk o where o.document_id = $1)
"""
DRAWN = "(image) => image.complete && image.naturalWidth > 300"
DROP = """(words) => {
  const data = new DataTransfer();
  data.items.add(new File([words], 'dropped.txt', { type: 'text/plain' }));
  return data;
}"""


def blank_png(width: int, height: int) -> bytes:
    written = BytesIO()
    Image.new("L", (width, height), 200).save(written, "PNG")
    return written.getvalue()


async def test_a_texts_chunk_is_marked_and_more_chunks_and_the_original_can_be_had(site: Site) -> None:
    _, key = await site.server.another_tenant("gauging")
    content = "\n\n".join(SENTENCES)
    document = await upload(site, "levels.txt", content, key=key)
    path = f"/documents/{document['document_id']}"
    async with site.server.database.connect("admin") as admin:
        await admin.execute(MORE_CHUNKS, document["document_id"])
    async with site.visit("viewer", "gauging") as page:
        await page.goto(path)
        chunks = page.get_by_role("list", name="Chunks").get_by_role("listitem")
        await expect(chunks).to_have_count(200)
        fifth = chunks.nth(4)
        text = await fifth.locator(".chunk-text").text_content() or ""
        assert content.count(text) == 1
        await fifth.get_by_role("button").click()
        await expect(page).to_have_url(re.compile(r"\?chunk=4$"))
        mark = page.get_by_label("The text of the original").locator("mark")
        await mark.wait_for()
        assert await mark.text_content() == text
        await expect(mark).to_be_in_viewport()
        await page.reload()  # the address leads another person to the same mark
        await mark.wait_for()
        assert await mark.text_content() == text

        await page.get_by_role("button", name="More chunks").click()
        await expect(chunks).to_have_count(251)
        await expect(page.get_by_role("button", name="More chunks")).to_have_count(0)
        await page.goto(f"{path}?chunk=249")  # one beyond those that are listed first
        await expect(page.locator(".chunk.chosen")).to_contain_text("Planted 249")

        await page.get_by_role("tab", name="Parsed text").click()
        parsed, pager = page.get_by_label("Parsed text", exact=True), page.locator(".beside .pager")
        await expect(parsed).to_contain_text(SENTENCES[0])
        await expect(pager).to_contain_text(f"0 to 20,000 of {len(content):,} characters")
        await expect(pager.get_by_role("button", name="Previous")).to_be_disabled()
        for start in (20_000, 40_000):
            await pager.get_by_role("button", name="Next").click()
            await expect(page).to_have_url(re.compile(f"at={start}"))
            await expect(pager).to_contain_text(f"{start:,} to ")
        await expect(parsed).to_contain_text(SENTENCES[-1])
        await expect(pager.get_by_role("button", name="Next")).to_be_disabled()
        await pager.get_by_role("button", name="Previous").click()
        await expect(pager).to_contain_text("20,000 to 40,000 of ")

        async with page.expect_download() as downloading:
            await page.get_by_role("link", name="Download").click()
        download = await downloading.value
        assert download.suggested_filename == "levels.txt"
        assert Path(await download.path()).read_text(encoding="utf-8") == content


async def test_a_pdfs_pages_are_turned_and_an_image_is_shown_as_it_is(site: Site) -> None:
    _, key = await site.server.another_tenant("turnstile")
    paged = await upload(site, "handbook.pdf", handbook(), "application/pdf", key=key)
    picture = await upload(site, "scan.png", blank_png(420, 90), "image/png", key=key)
    async with site.visit("viewer", "turnstile") as page:
        await page.goto(f"/documents/{paged['document_id']}")
        pager, shown = page.locator(".original .pager"), page.locator(".page-image")
        previous, following = (pager.get_by_role("button", name=name) for name in ("Previous", "Next"))
        number = pager.get_by_label("Page")
        await expect(pager).to_contain_text("of 3")
        await expect(previous).to_be_disabled()

        async def at(wanted: int) -> None:
            await expect(number).to_have_value(str(wanted))
            await expect(shown).to_have_attribute("src", re.compile(f"/pages/{wanted}$"))
            await eventually(lambda: shown.evaluate(DRAWN), what=f"page {wanted} is drawn")

        await at(1)
        await following.click()
        await expect(page).to_have_url(re.compile(r"\?page=2$"))
        await at(2)
        await expect(page.locator(".chunk.on-page").first).to_contain_text("Penstock 2")
        await number.fill("3")
        await at(3)
        await expect(following).to_be_disabled()
        await page.reload()  # the address leads another person to the same page
        await previous.click()
        await at(2)

        await page.goto(f"/documents/{picture['document_id']}")
        original = page.get_by_role("img", name="The original")
        await expect(original).to_be_visible()
        await eventually(lambda: original.evaluate(DRAWN), what="the image is shown")
        assert await original.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [420, 90]


async def test_a_file_goes_into_the_project_that_was_chosen_and_into_no_other(site: Site) -> None:
    _, key = await site.server.another_tenant("annexe")
    async with site.server.client(key) as client:
        made = await client.post("/v1/projects", json={"slug": "archive-room", "name": "Archive room"})
        assert made.status_code == 201, made.text
    async with site.visit("operator", "annexe") as page:
        rows = page.locator(".vtable-body .vtable-row")
        await page.goto("/upload")
        await page.get_by_label("Project").select_option("Archive room")
        await expect(page).to_have_url(f"{site.server.url}/upload?project=archive-room")
        chosen: FilePayload = {"name": "chosen.txt", "mimeType": "text/plain", "buffer": b"Chosen words."}
        await page.get_by_label("Files to upload").set_input_files(chosen)
        dropped = await page.evaluate_handle(DROP, "Dropped words.")
        await page.dispatch_event(".drop", "drop", {"dataTransfer": dropped})
        for name in ("chosen.txt", "dropped.txt"):
            await page.locator(".upload-line[data-status=indexed]", has_text=name).wait_for()
        await page.locator(".upload-line", has_text="chosen.txt").get_by_role("link").click()
        project = page.get_by_role("region", name="Facts").get_by_role("link", name="archive-room")
        await project.click()
        await expect(page).to_have_url(f"{site.server.url}/documents?project=archive-room")
        await expect(rows).to_have_count(2)
        await page.goto("/documents?project=default")
        await page.get_by_text("No document matches").wait_for()


async def test_folders_are_synced_together_and_what_one_brought_is_kept_without_it(
    site: Site, tmp_path: Path
) -> None:
    tenant, key = await site.server.another_tenant("wharf")
    folders = [tmp_path / name for name in ("east", "west")]
    for folder in folders:
        folder.mkdir()
        (folder / f"{folder.name}-first.txt").write_text(f"The first paper of the {folder.name} quay.")
        given = {"path": str(folder)}
        await site.server.engine.sources.add(tenant.tenant_id, "folder", given, name=folder.name)

    async def brought(count: int) -> bool:
        async with site.server.client(key) as client:
            found = (await client.get("/v1/documents", params={"status": "indexed"})).json()["items"]
        return len(found) == count

    await eventually(lambda: brought(2), within=60, every=0.2, what="both folders are read")
    async with site.visit("admin", "wharf") as page:
        await page.goto("/sources?kind=folder")
        cards = page.locator(".card")
        await expect(cards).to_have_count(2)
        await expect(cards.get_by_text("syncing")).to_have_count(0)
        for folder in folders:
            (folder / f"{folder.name}-second.txt").write_text(f"The second paper of the {folder.name} quay.")
        await page.get_by_label("Select all 2 that match").check()
        card = await act(page, "Sync 2", "Sync 2 sources", "Sync sources", "2 of 2 done")
        await card.get_by_role("link").click()
        receipt = page.get_by_role("region", name="Receipt")
        await expect(receipt).to_contain_text("2 of 2 done")
        items = page.get_by_role("table", name="Items").locator(".vtable-body .vtable-row")
        await expect(items).to_have_count(2)
        await expect(items.get_by_text("done")).to_have_count(2)
        await eventually(lambda: brought(4), within=60, every=0.2, what="the new files are read")

        await page.goto("/sources?q=east")
        await cards.get_by_role("link", name="east").click()
        await page.get_by_role("button", name="Disconnect …").click()
        dialog = page.get_by_role("dialog", name="Disconnect east?")
        await expect(dialog).to_contain_text("It brought 2 documents. What should happen to them?")
        await dialog.get_by_label("Keep them").check()
        await dialog.get_by_role("button", name="Disconnect and keep 2 documents").click()
        await expect(page.locator(".toasts")).to_contain_text("Disconnected; 2 documents kept.")
        await expect(page).to_have_url(f"{site.server.url}/sources")
        await expect(cards).to_have_count(1)
        await expect(cards).to_contain_text("west")
        await page.goto("/documents?q=east&status=indexed")
        rows = page.locator(".vtable-body .vtable-row")
        await expect(rows).to_have_count(2)
        await rows.filter(has_text="east-first.txt").get_by_role("link").first.click()
        facts = page.get_by_role("region", name="Facts")
        await expect(facts).to_contain_text("a removed source")
        await expect(page.get_by_role("list", name="Chunks")).to_contain_text(
            "The first paper of the east quay."
        )
