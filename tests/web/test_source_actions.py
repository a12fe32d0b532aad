"""Mailboxes, webhooks and records of clients in a browser: dialogs that add, change and delete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.async_api import expect

from tests.integration.test_api_webhooks import signed
from tests.plugins.console import Site

if TYPE_CHECKING:
    from playwright.async_api import Page, Request

SECRET = "5ecret-Heron-77"


def asked_after_deleting(page: Page) -> list[str]:
    """Fills with what the page reads of a thing after it told the server to delete it."""
    gone: list[str] = []
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.method == "DELETE":
            gone.append(request.url.partition("?")[0])
        elif any(request.url.startswith(each) for each in gone):
            asked.append(request.url)

    page.on("request", note)
    return asked


async def test_a_mailbox_is_added_gets_a_new_password_and_is_read_again(site: Site) -> None:
    await site.server.another_tenant("letterbox")
    async with site.visit("admin", "letterbox") as page:
        await page.goto("/sources/connect")
        await page.get_by_role("button", name="Add a mailbox …").click()
        dialog = page.get_by_role("dialog", name="Add a mailbox")
        await dialog.get_by_label("Mail server").fill("127.0.0.1")
        await dialog.get_by_label("User").fill("clerk@letterbox.example")
        await dialog.get_by_label("Password").fill(SECRET)
        await dialog.get_by_label("Port").fill("1")  # nobody listens there
        await dialog.get_by_role("button", name="Add the mailbox").click()
        await page.get_by_role("heading", name="clerk@letterbox.example", level=1).wait_for()
        await expect(page.locator(".toasts")).to_contain_text("The mailbox was added.")

        await page.get_by_role("button", name="New password …").click()
        dialog = page.get_by_role("dialog")
        save = dialog.get_by_role("button", name="Use this password")
        await expect(save).to_be_disabled()
        await dialog.get_by_label("Password").fill(SECRET + "-2")
        await save.click()
        await expect(page.locator(".toasts")).to_contain_text("The new password is in use.")
        assert SECRET not in await page.content()

        await page.get_by_role("button", name="Read everything again").click()
        await expect(page.locator(".toasts")).to_contain_text("Reading everything again.")
        syncs = page.get_by_role("table", name="Last syncs")
        await expect(syncs).to_contain_text("everything")


async def test_a_sender_is_blocked_and_forgotten_and_a_class_of_mail_is_kept_after_all(site: Site) -> None:
    _, key = await site.server.another_tenant("sorting")
    given = {"host": "127.0.0.1", "port": 1, "user": "clerk@sorting.example", "password": SECRET}
    async with site.server.client(key) as client:
        added = await client.post("/v1/sources/imap", json=given)
        assert added.status_code == 201, added.text
    async with site.visit("admin", "sorting") as page:
        await page.goto(f"/sources/{added.json()['source_id']}")
        blocked = page.locator(".senders", has_text="Always skip mails of")
        await blocked.get_by_label("Always skip mails of").fill("shop.example")
        await blocked.get_by_role("button", name="Add").click()
        await expect(blocked.locator(".token")).to_have_text("shop.example")
        await page.reload()
        await blocked.get_by_role("button", name="Forget shop.example").click()
        await expect(blocked.locator(".token")).to_have_count(0)

        await page.get_by_role("button", name="more that have not fired").click()
        newsletter = page.get_by_role("switch", name="newsletter is skipped")
        await expect(newsletter).to_have_attribute("aria-checked", "true")
        await newsletter.click()
        await expect(newsletter).to_have_text("kept")
        await page.reload()  # what was changed is shown among those that fired
        await expect(newsletter).to_have_attribute("aria-checked", "false")
        await newsletter.click()
        await expect(newsletter).to_have_text("skipped")


async def test_a_webhook_shows_its_secret_once_and_is_removed(site: Site) -> None:
    await site.server.another_tenant("hookline")
    async with site.visit("admin", "hookline") as page:
        asked = asked_after_deleting(page)
        await page.goto("/sources/connect")
        await page.get_by_role("button", name="Create the webhook …").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Create the webhook", exact=True).click()
        await page.get_by_role("dialog", name="The webhook is ready").wait_for()
        address, secret = await dialog.locator(".secret code").all_inner_texts()
        assert address.startswith(f"{site.server.url}/")
        assert len(secret) >= 20
        await dialog.get_by_role("button", name="I have stored it").click()
        assert secret not in await page.content()
        refused = await page.request.post(address, data="{}")
        assert refused.status == 401, await refused.text()
        await page.goto("/sources")
        await page.locator(".card h2 a").click()
        await expect(page.get_by_role("button", name=re.compile("Sync now|Read everything"))).to_have_count(0)
        await page.get_by_role("button", name="Disconnect …").click()
        await page.get_by_role("dialog").get_by_role("button", name="Remove the webhook").click()
        await page.get_by_text("No source is connected").wait_for()
        assert asked == [], "nobody asks for the source that is gone"
        gone = await page.request.post(address, data="{}")
        assert gone.status in (401, 404)


async def test_the_secret_of_a_webhook_is_rotated_and_the_new_one_is_shown_once(site: Site) -> None:
    _, key = await site.server.another_tenant("rotary")
    async with site.server.client(key) as client:
        made = (await client.post("/v1/sources/webhook", json={})).json()
    async with site.visit("admin", "rotary") as page:
        await page.goto(f"/sources/{made['source_id']}")
        await page.get_by_role("button", name="New secret …").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("accepted until the next rotation")
        await dialog.get_by_role("button", name="Rotate the secret").click()
        await page.get_by_role("dialog", name="The new secret is in use").wait_for()
        secret = await dialog.locator(".secret code").inner_text()
        assert secret != made["secret"]
        await expect(dialog.get_by_role("button", name="Copy the secret")).to_be_visible()
        async with site.server.client("") as sender:
            for each in (made["secret"], secret):  # the one before is accepted until the next rotation
                body = f"Signed with {each[-6:]}".encode()
                answer = await sender.post(made["path"], content=body, headers=signed(each, body))
                assert answer.status_code == 202, answer.text
        await dialog.get_by_role("button", name="I have stored it").click()
        assert secret not in await page.content()
        await page.goto("/access/audit")
        await expect(page.get_by_role("table", name="Audit")).to_contain_text(
            re.compile("rotated the webhook.s secret")
        )
    async with site.visit("viewer", "rotary") as page:
        await page.goto(f"/sources/{made['source_id']}")
        await page.get_by_role("heading", name="Facts").wait_for()
        await expect(page.get_by_role("button", name="New secret …")).to_have_count(0)


async def test_a_record_written_by_hand_is_deleted_and_its_client_with_the_last_one(site: Site) -> None:
    _, key = await site.server.another_tenant("ledger")
    async with site.server.client(key) as client:
        for name in ("Cedar Mill", "Cedar Mill Ltd"):  # which are one client by their names
            made = await client.post("/v1/clients", json={"name": name, "key_facts": {"staff": 12}})
            assert made.status_code == 201, made.text
    async with site.visit("operator", "ledger") as page:
        asked = asked_after_deleting(page)
        await page.goto(f"/clients/{made.json()['client_id']}")
        records = page.get_by_role("table", name="Records").get_by_role("row")
        await expect(records).to_have_count(3)  # with the head
        for name, left in (("Cedar Mill Ltd", 2), ("Cedar Mill", 0)):
            await page.get_by_role("button", name=f"Delete {name}", exact=True).click()
            dialog = page.get_by_role("dialog", name="Delete 1 record?")
            await expect(dialog).to_contain_text(name)
            await dialog.get_by_role("button", name="Delete 1 record").click()
            if left:
                await expect(records).to_have_count(left)
        await expect(page).to_have_url(f"{site.server.url}/clients")
        await page.get_by_text("No clients yet").wait_for()
        assert asked == [], "nobody asks for the client that is gone"
