"""Details of pages, in a browser: marks, stages, links, charts and selections that say what is true."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.plugins.console import Site
from tests.web.uploading import upload

pytestmark = pytest.mark.timeout(120)

REFUSED = """
update ingest.document set status = 'failed', reason_code = $2, error_message = 'it did not work'
where document_id = $1
"""


async def test_emoji_before_a_passage_do_not_shift_its_mark(site: Site) -> None:
    _, key = await site.server.another_tenant("undertow")
    text = "\n\n".join(f"# 🌊 {n}\n\n" + "🌊🌊 The tide turns the wheel. " * 60 for n in range(4))
    known = await upload(site, "tide.md", text, "text/markdown", key=key)
    async with site.server.client(key) as client:
        answer = await client.get(f"/v1/documents/{known['document_id']}/chunks")
        chunk = answer.json()["items"][1]
        place = {"from": chunk["start"], "to": chunk["end"]}
        passage = (await client.get(f"/v1/documents/{known['document_id']}/text", params=place)).json()
    async with site.visit("viewer", "undertow") as page:
        await page.goto(f"/documents/{known['document_id']}?chunk={chunk['ordinal']}")
        mark = page.locator(".original mark")
        await expect(mark).not_to_be_empty()
        assert await mark.text_content() == passage["text"]


async def test_a_document_that_failed_while_embedding_is_shown_as_parsed(site: Site) -> None:
    _, key = await site.server.another_tenant("spillway")
    known = await upload(site, "flume.txt", "The flume of the mill.", key=key)
    async with (
        site.server.database.connect("admin") as admin,
        site.visit("viewer", "spillway") as page,
    ):
        for code, done in (("EmbedderRefused", ["received", "parsed"]), ("malformed", ["received"])):
            await admin.execute(REFUSED, known["document_id"], code)
            await page.goto(f"/documents/{known['document_id']}")
            way = page.get_by_role("list", name="Status: failed")
            await expect(way.locator(".bad")).to_have_count(1)
            assert await way.locator(".done").all_inner_texts() == done
