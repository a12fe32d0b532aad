"""Documents and skipped mail chosen by a filter are acted on; order, exclusions and long lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.plugins.console import Site
from tests.web.acting import act, ask
from tests.web.uploading import handbook, upload

if TYPE_CHECKING:
    from playwright.async_api import Page

FAIL = "update ingest.document set status = 'failed', reason_code = 'crash' where document_id = any($1)"
SKIP = """
with skipped as (
  update ingest.document set status = 'skipped', reason_code = 'marketing_material'
  where document_id = any($1) returning document_id, tenant_id, filename)
insert into ingest.decision (decision_id, tenant_id, document_id, stage, verdict, name, skip_reason, filename,
  version, decided_at)
select internal.uuid7(), tenant_id, document_id, 2, 'drop', $2, 'marketing_material', filename, 'v', now()
from skipped
"""
COPIES = """
insert into ingest.document (document_id, tenant_id, project_id, file_id, status, mime_type, filename,
  size_bytes, content_sha256, created_at, updated_at)
select internal.uuid7(), d.tenant_id, d.project_id, d.file_id, 'indexed', 'text/plain', 'copy' || n || '.txt',
  1, sha256(convert_to(n::text, 'UTF8')), now(), now()
from ingest.document d cross join generate_series(1, 20100) n where d.document_id = $1
"""
GENERATIONS = """
select array_agg(live_generation order by filename) from ingest.document where tenant_id = $1
"""


async def names(page: Page) -> list[str]:
    return [text.strip() for text in await page.locator(".vtable-body .first .name").all_inner_texts()]


async def test_documents_that_match_a_filter_are_retried_and_re_indexed_and_the_rest_is_left_out(
    site: Site,
) -> None:
    tenant, key = await site.server.another_tenant("canal")
    sent = [await upload(site, f"lock-{n}.txt", f"Lock {n} of the canal.", key=key) for n in range(3)]
    await upload(site, "bridge.txt", "The bridge over the canal.", key=key)
    ids = [each["document_id"] for each in sent]
    async with (
        site.server.database.connect("admin") as admin,
        site.visit("operator", "canal") as page,
    ):
        await admin.execute(FAIL, ids[:2])
        await page.goto("/documents?q=lock-&sel=all")
        dialog = await ask(page, "Retry 3")
        await expect(dialog.get_by_role("heading")).to_have_text("Retry 2 documents?")
        await expect(dialog).to_contain_text("1: it is indexed; re-index it instead")
        await site.shoot(page, "left-out-light")
        await dialog.get_by_role("button", name="Retry 2 documents", exact=True).click()
        card = page.get_by_role("status", name="Retry documents")
        await expect(card).to_contain_text("2 of 3 done, 1 skipped")
        await expect(page.locator(".vtable-body").get_by_text("indexed")).to_have_count(3)

        before = await admin.fetchval(GENERATIONS, tenant.tenant_id)
        await page.goto("/documents?q=lock-&sel=all")
        await act(page, "Re-index 3", "Re-index 3 documents", "Re-index documents", "3 of 3 done")
        await page.goto("/documents?q=lock-&status=indexed")
        await expect(page.locator(".vtable-body .vtable-row")).to_have_count(3)
        after = await admin.fetchval(GENERATIONS, tenant.tenant_id)
        assert [new - old for old, new in zip(before, after, strict=True)] == [0, 1, 1, 1], "the bridge stays"


async def test_what_one_rule_skipped_is_restored_together_and_becomes_searchable(site: Site) -> None:
    _, key = await site.server.another_tenant("osier")
    sent = [await upload(site, f"news-{n}.txt", f"News {n} of the osier beds.", key=key) for n in range(3)]
    ids = [each["document_id"] for each in sent]
    async with site.server.database.connect("admin") as admin:
        await admin.execute(SKIP, ids[:2], "newsletter")
        await admin.execute(SKIP, ids[2:], "cold_pitch")
    async with site.visit("operator", "osier") as page:
        await page.goto("/sources/skipped")
        rows = page.get_by_role("table", name="What was skipped").locator(".vtable-body .vtable-row")
        await expect(rows).to_have_count(3)
        await page.get_by_role("combobox", name="Filter").fill("rule:newsletter")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile(r"\?name=newsletter$"))
        await expect(rows).to_have_count(2)
        await page.goto("/sources/skipped?name=newsletter&sel=all")
        await act(page, "Restore 2", "Restore 2 items", "Restore skipped mail", "2 of 2 done")
        await expect(rows.get_by_role("link", name="restored")).to_have_count(2)
        await page.goto("/documents?status=indexed")
        await expect(page.locator(".vtable-body .vtable-row")).to_have_count(2)
        await page.goto("/documents?status=skipped")
        await expect(page.locator(".vtable-body .vtable-row")).to_contain_text(["news-2.txt"])


async def test_the_order_and_an_exclusion_stand_in_the_address_and_choose_the_same_rows_again(
    site: Site,
) -> None:
    _, key = await site.server.another_tenant("ferry")
    for name in ("first.txt", "second.txt"):
        await upload(site, name, f"This is the {name}.", key=key)
    await upload(site, "third.pdf", handbook(), "application/pdf", key=key)
    async with site.visit("operator", "ferry") as page:
        rows = page.locator(".vtable-body .vtable-row")
        await page.goto("/documents")
        await expect(rows).to_have_count(3)
        assert await names(page) == ["third.pdf", "second.txt", "first.txt"]
        await page.get_by_label("Order").select_option("Oldest first")
        await expect(page).to_have_url(f"{site.server.url}/documents?sort=oldest")
        await expect(rows.first).to_contain_text("first.txt")
        assert await names(page) == ["first.txt", "second.txt", "third.pdf"]

        await page.keyboard.press("/")
        await page.keyboard.type("-type:PDF")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile(r"mime_type=(!|%21)application%2Fpdf&sort=oldest$"))
        await expect(rows).to_have_count(2)
        await page.reload()
        await expect(rows).to_have_count(2)
        assert await names(page) == ["first.txt", "second.txt"]
        token = page.get_by_role("button", name="not type PDF")
        await token.click()
        await expect(rows).to_have_count(1)
        assert await names(page) == ["third.pdf"]
        await page.get_by_role("button", name="Remove type PDF").click()
        await page.keyboard.press("/")
        await page.keyboard.type("type:te")
        await page.get_by_role("option", name="Text").click()
        await expect(page).to_have_url(re.compile(r"mime_type=text%2Fplain&sort=oldest$"))
        await expect(rows).to_have_count(2)


async def test_a_search_through_a_long_list_says_that_it_saw_a_part_and_looks_further(site: Site) -> None:
    _, key = await site.server.another_tenant("reservoir")
    wanted = await upload(site, "needle.txt", "The needle.", key=key)
    async with site.server.database.connect("admin") as admin:
        await admin.execute(COPIES, wanted["document_id"])
        await admin.execute("analyze ingest.document")
    async with site.visit("viewer", "reservoir") as page:
        await page.goto("/documents?q=needle")
        await page.get_by_text("only a part of the list was looked through").wait_for()
        await page.get_by_role("button", name="Look further").click()
        await expect(page.locator(".vtable-body .vtable-row")).to_contain_text("needle.txt")
        await page.goto("/documents?q=no-such-needle")
        await page.get_by_role("button", name="Look further").click()
        await page.get_by_text("No document matches").wait_for()
