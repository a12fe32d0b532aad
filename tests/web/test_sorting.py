"""Lists are sorted by their columns; the order is in the address and said to screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import expect

from penstock.model import uuid7
from tests.integration.known_clients import NEW_SOURCE
from tests.plugins.console import Site

if TYPE_CHECKING:
    from playwright.async_api import Page


async def first_cells(page: Page) -> list[str]:
    return [text.strip() for text in await page.locator(".vtable-body .first .name").all_inner_texts()]


async def test_a_column_sorts_up_then_down_then_not_at_all_and_the_address_says_so(site: Site) -> None:
    async with site.visit() as page:
        await page.goto("/queues")
        head = page.get_by_role("columnheader", name="Queue", exact=True)
        await head.get_by_role("button").click()
        await expect(page).to_have_url(f"{site.server.url}/queues?sort=queue")
        await expect(head).to_have_attribute("aria-sort", "ascending")
        up = await first_cells(page)
        assert up == sorted(up)
        await head.get_by_role("button").click()
        await expect(head).to_have_attribute("aria-sort", "descending")
        assert await first_cells(page) == up[::-1]
        await page.reload()  # a link shows the same order
        await expect(head).to_have_attribute("aria-sort", "descending")
        assert await first_cells(page) == up[::-1]
        await head.get_by_role("button").click()
        await expect(page).to_have_url(f"{site.server.url}/queues")
        assert await head.get_attribute("aria-sort") is None
        await page.go_back()
        await expect(head).to_have_attribute("aria-sort", "descending")


async def test_every_list_of_bounded_length_sorts(site: Site) -> None:
    async with site.visit(tenant="acme") as page:
        for path, column in (
            ("/access/keys", "Created"),
            ("/workers", "Tasks now"),
            ("/schedules", "Next run"),
        ):
            await page.goto(path)
            head = page.get_by_role("columnheader", name=column, exact=True)
            await head.get_by_role("button").click()
            await expect(head).to_have_attribute("aria-sort", "ascending")


async def test_clients_sources_and_failures_are_sorted(site: Site) -> None:
    tenant, key = await site.server.another_tenant("sluice")
    async with site.server.client(key) as client:
        for name in ("Beck", "Alder", "Croft"):
            assert (await client.post("/v1/clients", json={"name": name})).status_code == 201
    async with site.server.database.connect("admin") as admin:
        for kind in ("hubspot", "gmail", "outlook"):
            await admin.execute(NEW_SOURCE, uuid7(), tenant.tenant_id, kind)
    async with site.visit(tenant="sluice") as page:
        await page.goto("/clients?sort=-name")
        await page.get_by_role("link", name="Croft").wait_for()
        assert await first_cells(page) == ["Croft", "Beck", "Alder"]
        await page.goto("/sources")
        await page.get_by_label("Order").select_option("By name")
        await expect(page).to_have_url(f"{site.server.url}/sources?sort=name")
        await expect(page.locator(".card h2")).to_have_text(["gmail", "hubspot", "outlook"])
    async with site.visit() as page:
        await page.goto("/failures?sort=most&kind=task")
        counts = page.locator(".group-count b")
        await counts.first.wait_for()
        shown = [int(text.replace(",", "")) for text in await counts.all_inner_texts()]
        assert shown == sorted(shown, reverse=True)


MANY_CLIENTS = """
select ingest.put_client('default', case n when 1 then 'Zander' else 'Mill ' || lpad(n::text, 3, '0') end)
from generate_series(1, 130) n
"""
MANY_SENT = """
with message as (
  insert into comms.sms_message (tenant_id, to_number, body, created_at)
  select $1, '+4930123456', 'number ' || n, now() from generate_series(1, 130) n returning sms_message_id
), root as (
  insert into comms.send_sms_task (tenant_id, sms_message_id, created_at)
  select $1, m.sms_message_id, now() from message m returning send_sms_task_id
), attempt as (
  insert into comms.send_sms_attempt (tenant_id, send_sms_task_id, task_id, created_at)
  select $1, r.send_sms_task_id, 0, now() from root r returning send_sms_attempt_id
), sent as (
  insert into comms.send_sms_attempt_succeeded (send_sms_attempt_id, tenant_id, created_at)
  select a.send_sms_attempt_id, $1, now() from attempt a
)
select min(send_sms_task_id), max(send_sms_task_id) from root
"""


async def test_a_list_longer_than_a_page_is_sorted_by_the_server_where_it_can_be(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("longlist")
    database = site.server.database
    async with database.connect("admin") as admin, database.connect("runtime") as runtime:
        ((oldest, newest),) = await admin.fetch(MANY_SENT, tenant.tenant_id)
        async with runtime.transaction():
            await runtime.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant.tenant_id))
            await runtime.execute(MANY_CLIENTS)
    async with site.visit(tenant="longlist") as page:
        await page.goto("/clients")
        rows = page.locator(".vtable-body .first .name")
        await expect(rows.first).to_have_text("Mill 002")
        heads = page.get_by_role("columnheader").filter(has=page.get_by_role("button"))
        await expect(heads).to_have_text(["Client", "Changed"])
        for turn, first in (("ascending", "Mill 002"), ("descending", "Zander")):
            await heads.first.get_by_role("button").click()
            await expect(heads.first).to_have_attribute("aria-sort", turn)
            await expect(rows.first).to_have_text(first)
        await page.reload()
        await expect(rows.first).to_have_text("Zander")
        await page.goto("/processes")
        await expect(rows.first).to_have_text(f"comms.send_sms/{newest}")
        await expect(heads).to_have_text(["Started"])
        await heads.get_by_role("button").click()
        await expect(rows.first).to_have_text(f"comms.send_sms/{oldest}")
        # Once the rest is here, the other columns sort too.
        await page.locator(".vtable").evaluate("(box) => box.scrollTo(0, box.scrollHeight)")
        await expect(page.locator(".vtable-foot")).to_have_text("130 of 130")
        await expect(heads).to_have_text(["Process", "State", "Attempts", "Next check", "Started"])
