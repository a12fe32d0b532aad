"""The pages about sources and clients, in a browser: connect, health, rules, split and join, disconnect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.connecting_sources import served
from tests.plugins.console import Site
from tests.plugins.database import Database
from tests.plugins.workers import eventually

if TYPE_CHECKING:
    from playwright.async_api import Page

    from tests.integration.api_server import ApiServer

pytestmark = pytest.mark.timeout(300)


async def sign_in(page: Page, server: ApiServer) -> None:
    await page.goto(f"{server.url}/login")
    await page.fill("input[name=key]", server.key)
    await page.press("input[name=key]", "Enter")
    await page.locator("h1").first.wait_for()


async def test_a_source_is_connected_followed_and_disconnected(
    site: Site, database: Database, tmp_path: Path
) -> None:
    context = await site.browser.new_context(reduced_motion="reduce")
    async with served(database, tmp_path) as (server, simulators), server.working():
        page = await context.new_page()
        page.set_default_timeout(30_000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        try:
            async with site.noted(page, errors):
                await sign_in(page, server)
                await page.goto(f"{server.url}/settings/integrations")
                await page.get_by_text("No source is connected").wait_for()
                await page.get_by_role("link", name="Connect a source").first.click()
                await page.get_by_role("button", name="Connect HubSpot").click()
                await page.get_by_text("is connected to the tenant acme").wait_for()
                await page.get_by_role("link", name="Back to the sources").click()

                await page.get_by_text("everything was read").wait_for()
                await page.evaluate("window.__mark = true")
                await page.get_by_role("link", name="millbrook.example").click()
                await page.get_by_text("Last syncs").wait_for()
                await page.get_by_role("button", name="Pause").click()
                await page.get_by_text("Paused: nothing is read").wait_for()
                await page.get_by_role("button", name="Resume").click()
                await page.get_by_role("button", name="Sync now").click()
                await page.get_by_text("changes, ").first.wait_for()
                await page.get_by_label("How often it is synced").select_option("3600")
                await eventually(lambda: _every(server, 3600), what="the schedule is stored")

                await clients_are_split_and_joined(page, server)
                assert await page.evaluate("window.__mark === true"), "the page was reloaded"

                await page.get_by_role("link", name="Sources", exact=True).first.click()
                await page.get_by_role("link", name="millbrook.example").click()
                # Access is taken back at the provider: the source says so, and is reconnected in place.
                simulators.providers["hubspot"].oauth.grants.revoke_all()
                await page.get_by_role("button", name="Sync now").click()
                await page.get_by_text("no longer accepts our access").wait_for()
                await page.get_by_role("button", name="Reconnect").click()
                await page.get_by_role("link", name="Back to the sources").click()
                await page.get_by_role("link", name="millbrook.example").click()
                await page.get_by_text("everything was read").wait_for()
                await page.get_by_role("button", name="Disconnect …").click()
                dialog = page.get_by_role("dialog")
                await dialog.get_by_text("It brought").wait_for()
                assert await dialog.get_by_role("button", name="Disconnect", exact=True).is_disabled()
                await dialog.get_by_label("Delete them").check()
                await dialog.get_by_role("button", name="Disconnect and delete").click()
                await page.get_by_text("No source is connected").wait_for()
                assert errors == []
                assert simulators.ledger.count("hubspot") > 0
        finally:
            await context.close()


async def clients_are_split_and_joined(page: Page, server: ApiServer) -> None:
    """The client with the most records: one is split off and joined again; a row of our own is edited."""
    async with server.client() as client:
        clients = (await client.get("/v1/clients?limit=100")).json()["items"]
    most = max(clients, key=lambda each: each["record_count"])
    assert most["record_count"] > 1
    await page.get_by_role("link", name="Clients", exact=True).first.click()
    await page.get_by_role("combobox", name="Filter").fill(most["name"])
    await page.get_by_role("combobox", name="Filter").press("Enter")
    await page.get_by_role("link", name=most["name"]).first.click()
    await page.get_by_role("region", name="Facts").first.get_by_role("link").first.wait_for()
    await page.get_by_role("button", name="Split off").first.click()
    await page.get_by_role("button", name="Split off 1 record").click()
    await page.get_by_text("It is now its own client").wait_for()
    await page.get_by_role("button", name="Join with another …").click()
    await page.locator(".choices-list button").first.click()
    await page.get_by_role("button", name="Join 2 clients").click()
    await page.get_by_text("Joined into one client.").wait_for()
    await page.get_by_role("link", name="Clients", exact=True).first.click()
    await page.get_by_role("button", name="Add a client …").click()
    await page.get_by_label("Name", exact=True).fill("Ours alone Ltd")
    await page.get_by_role("button", name="Add a fact").click()
    await page.get_by_label("Name of fact 1").fill("discount")
    await page.get_by_label("Value of fact 1").fill("12")
    await page.get_by_role("button", name="Add the client").click()
    await page.get_by_text("by hand").first.wait_for()
    await page.get_by_role("button", name="Edit Ours alone Ltd").click()
    await page.get_by_label("Value of fact 1").fill("15")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_role("cell", name="15", exact=True).wait_for()


async def test_rules_are_switched_and_what_was_skipped_is_restored(
    site: Site, database: Database, tmp_path: Path
) -> None:
    context = await site.browser.new_context(reduced_motion="reduce")
    async with served(database, tmp_path) as (server, simulators), server.working():
        simulators.deliver("outlook", "signature_image")
        page = await context.new_page()
        page.set_default_timeout(30_000)
        try:
            await sign_in(page, server)
            await page.goto(f"{server.url}/sources/connect")
            await page.get_by_role("button", name="Connect Outlook").click()
            await page.get_by_role("link", name="Back to the sources").click()
            await page.get_by_text("everything was read").wait_for()
            await page.get_by_role("link", name="What was skipped").click()
            await page.get_by_role("button", name="Restore").first.click()
            await page.get_by_text("Restored.").wait_for()
            await page.get_by_role("link", name="Sources", exact=True).first.click()
            await page.locator(".card h2 a").first.click()
            await page.get_by_role("button", name="more that have not fired").click()
            switch = page.get_by_role("switch", name="tracking pixel")
            await switch.click()
            await page.locator("[role=switch][aria-checked=false]", has_text="off").first.wait_for()
            await page.get_by_label("Always keep mails of").fill("partner.example")
            await page.keyboard.press("Enter")
            await page.locator(".senders .token", has_text="partner.example").wait_for()
        finally:
            await context.close()


async def _every(server: ApiServer, seconds: int) -> bool:
    async with server.client() as client:
        (source,) = (await client.get("/v1/sources")).json()["items"]
    return bool(source["sync_every_seconds"] == seconds)
