"""Details of pages, in a browser: marks, stages, links, charts and selections that say what is true."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import expect

from penstock.accounts.installation_keys import create_installation_key
from penstock.model import uuid7
from tests.integration.known_clients import NEW_SOURCE
from tests.plugins.console import Site
from tests.web.acting import ask
from tests.web.uploading import upload

pytestmark = pytest.mark.timeout(120)

REFUSED = """
update ingest.document set status = 'failed', reason_code = $2, error_message = 'it did not work'
where document_id = $1
"""
SAMPLE = """
insert into queues.sample
  (queue_id, tenant_id, minute, ready, running, waiting, dead, done, failed, waited, ran)
select q.queue_id, $1, $2, 7, 0, 0, 0, 0, 0, internal.histogram('{}'), internal.histogram('{}')
from queues.queue q where q.queue_name = 'archive'
"""
# One more than the API takes by their ids.
MANY_KEYS = """
insert into accounts.api_key (key_id, tenant_id, name, prefix, key_sha256, scopes, created_at)
select internal.uuid7(), $1, 'key ' || n, 'pk_' || n, sha256(convert_to('shoals ' || n, 'UTF8')),
  '{search}', now()
from generate_series(1, 10001) n
"""
NOT_INDEXED = (
    "update ingest.document set source_id = $2, status = $3, reason_code = $4 where document_id = $1"
)


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


async def test_every_source_leads_to_its_documents_that_were_skipped_or_failed(site: Site) -> None:
    tenant, key = await site.server.another_tenant("oxbow")
    sent = [await upload(site, f"brook-{n}.txt", f"Brook {n} of the oxbow.", key=key) for n in range(4)]
    drive, folder = uuid7(), uuid7()
    async with site.server.database.connect("admin") as admin:
        await admin.execute(NEW_SOURCE, drive, tenant.tenant_id, "google_drive")
        await admin.execute(NEW_SOURCE, folder, tenant.tenant_id, "folder")
        states = [(drive, "skipped", "unsupported"), (drive, "failed", "crash"), (drive, "indexed", None)]
        for known, state in zip(sent, [*states, (folder, "failed", "crash")], strict=True):
            await admin.execute(NOT_INDEXED, known["document_id"], *state)
    async with site.visit("viewer", "oxbow") as page:
        await page.goto(f"/sources/{drive}")
        await page.get_by_role("link", name="what was skipped or failed, and why").click()
        rows = page.get_by_role("table", name="Documents").locator(".vtable-body .vtable-row")
        await expect(rows).to_have_count(2)
        await expect(rows).to_contain_text(["brook-1.txt", "brook-0.txt"])
        await expect(rows.last).to_contain_text("unsupported")


async def test_an_admin_of_the_installation_sees_its_keys_and_revokes_one(site: Site) -> None:
    async with site.server.database.connect("operator") as conn:
        made = await create_installation_key(conn, "night shift", "viewer")
    async with site.visit() as page:
        await page.goto("/access/keys")
        row = page.get_by_role("table", name="Keys of the installation").get_by_role(
            "row", name="night shift"
        )
        await expect(row).to_contain_text("viewer")
        await expect(row).to_contain_text(made.prefix)
        await expect(page.get_by_text("penstock key create")).to_be_visible()
        async with site.server.client(made.secret) as client:
            assert (await client.get("/v1/tenants")).status_code == 200
        await row.get_by_role("button", name="Revoke night shift").click()
        await page.get_by_role("button", name="Revoke 1 key").click()
        await expect(row).to_contain_text("revoked")
        await expect(row.get_by_role("button")).to_have_count(0)
        async with site.server.client(made.secret) as client:
            assert (await client.get("/v1/tenants")).status_code == 401
        await site.shoot(page, "installation-keys-light")


async def test_who_is_not_an_admin_of_the_installation_sees_none_of_its_keys(site: Site) -> None:
    async with site.visit("operator") as page:
        await page.goto("/access/keys")
        await page.get_by_text("This needs the admin role").wait_for()
    await site.server.another_tenant("kelpbed")
    async with site.visit("admin", "kelpbed") as page:
        await page.goto("/access/keys")
        await page.get_by_role("button", name="Create a key").wait_for()
        await expect(page.get_by_role("table", name="Keys", exact=True)).to_be_visible()


async def test_charts_tell_times_in_the_chosen_zone_and_values_only_where_somebody_points(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("gyre")
    first = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=40)
    async with site.server.database.connect("admin") as admin:
        for minutes in (0, 20):
            await admin.execute(SAMPLE, tenant.tenant_id, first + timedelta(minutes=minutes))
    async with site.visit("viewer", "gyre", timezone_id="Asia/Tokyo") as page:
        await page.goto("/queues/archive")
        depth = page.locator(".charts figure").first
        legend = depth.locator(".u-legend")
        await expect(legend).to_be_visible()
        assert await legend.inner_text() == "readyrunningwaiting"
        await site.shoot(page, "chart-not-pointed-light")
        for chosen, zone in (("local", "Asia/Tokyo"), ("utc", "UTC")):
            await page.get_by_role("button", name="You and your settings").click()
            await page.get_by_label("Times in").select_option(chosen)
            await page.keyboard.press("Escape")
            await depth.locator(".u-over").hover(position={"x": 1, "y": 60})
            wall = f"{first.astimezone(ZoneInfo(zone)):%H:%M:%S}"
            await expect(legend.locator(".u-series").first).to_contain_text(wall)
            await expect(legend.locator(".u-series").nth(1)).to_contain_text("7")
            await page.locator("h1").hover()
            await expect(legend.locator(".u-value").nth(1)).to_be_hidden()


async def test_more_rows_than_the_api_takes_by_id_are_acted_on_by_the_filter_or_not_at_all(
    site: Site,
) -> None:
    tenant, _ = await site.server.another_tenant("shoals")
    async with site.server.database.connect("admin") as admin:
        await admin.execute("delete from accounts.api_key where tenant_id = $1", tenant.tenant_id)
        await admin.execute(MANY_KEYS, tenant.tenant_id)
    async with site.visit("admin", "shoals") as page:
        await page.goto("/access/keys")
        bar = page.get_by_role("toolbar")
        await page.get_by_role("checkbox", name="Select all that match").check()
        await expect(bar).to_contain_text("All 10,001 that match")
        dialog = await ask(page, "Revoke 10,001")
        await dialog.get_by_role("button", name="Revoke ≈ 10,001 keys").wait_for()
        await page.keyboard.press("Escape")

        rows = page.locator(".vtable-body").get_by_role("checkbox")
        await rows.first.uncheck()
        await expect(bar).to_contain_text("10,000 selected")
        dialog = await ask(page, "Revoke 10,000")
        await dialog.get_by_role("button", name="Revoke 10,000 keys").wait_for()
        await page.keyboard.press("Escape")
        await rows.first.check()
        await expect(bar).to_contain_text("10,001 selected")
        await expect(bar).to_contain_text("At most 10,000 at once: clear some, or select all that match.")
        await expect(bar.get_by_role("button", name="Revoke")).to_be_disabled()


# Of a shared worker the browser does not let a test answer requests.
NO_SHARED_WORKER = "delete window.SharedWorker"


async def test_a_stream_of_changes_that_was_refused_once_is_opened_again(site: Site) -> None:
    _, key = await site.server.another_tenant("slipway")
    async with site.visit("viewer", "slipway", watch=False) as page:
        await page.add_init_script(NO_SHARED_WORKER)
        await page.clock.install()
        await page.route("**/v1/events*", lambda route: route.fulfill(status=503), times=1)
        await page.goto("/documents")
        await page.get_by_text("No documents yet").wait_for()
        await expect(page.locator(".live-text")).to_have_text("Connecting")
        await page.clock.fast_forward(15_000)
        await expect(page.locator(".live-text")).to_have_text("Live")
        await upload(site, "raft.txt", "The raft on the slipway.", key=key)
        await page.locator(".vtable [role=row]", has_text="raft.txt").wait_for()


async def test_sessions_are_sorted_by_who_where_and_when(site: Site) -> None:
    await site.server.another_tenant("towpath")
    for role in ("viewer", "operator"):
        await site.signed_in(role, "towpath")
    async with site.visit("admin", "towpath") as page:
        await page.goto("/access/sessions")
        names = page.locator(".vtable-body .first .name")
        head = page.get_by_role("columnheader", name="Who", exact=True)
        await head.get_by_role("button").click()
        await expect(names).to_have_text(["admin of tests", "operator of tests", "viewer of tests"])
        await expect(page).to_have_url(f"{site.server.url}/access/sessions?sort=who")
        await head.get_by_role("button").click()
        await expect(names).to_have_text(["viewer of tests", "operator of tests", "admin of tests"])
        for column in ("Role", "Where", "Signed in", "Last seen", "Ends"):
            await page.get_by_role("columnheader", name=column, exact=True).get_by_role("button").click()
        await page.goto("/access/sessions?sort=in")
        await expect(names).to_have_text(["viewer of tests", "operator of tests", "admin of tests"])
