"""The pages about access, in a browser: keys, sessions, tenants, audit; and what a viewer cannot do."""

from __future__ import annotations

import pytest

from tests.integration.api_server import TEXT
from tests.plugins.console import Site
from tests.web.settling import COUNT_REQUESTS, settled
from tests.web.uploading import upload

pytestmark = pytest.mark.timeout(120)


async def test_a_keys_secret_is_shown_once_and_a_revoked_key_is_refused(site: Site) -> None:
    async with site.visit(tenant="acme") as page:
        await page.goto("/access/keys")
        await page.get_by_role("button", name="Create a key").click()
        await page.get_by_label("Name").fill("nightly import")
        await page.get_by_role("button", name="Create the key").click()
        secret = await page.locator(".secret code").inner_text()
        assert secret.startswith("pk_")
        async with site.server.client(secret) as client:
            assert (await client.get("/v1/documents")).status_code == 200
            assert (
                await client.post("/v1/keys", json={"name": "x", "scopes": ["search"]})
            ).status_code == 403
        await page.get_by_role("button", name="I have stored it").click()
        row = page.get_by_role("row", name="nightly import")
        await row.wait_for()
        assert secret not in await page.content()
        await page.get_by_role("button", name="Revoke nightly import").click()
        await page.get_by_role("button", name="Revoke 1 key").click()
        await row.get_by_text("revoked").wait_for()
        async with site.server.client(secret) as client:
            assert (await client.get("/v1/documents")).status_code == 401

        await page.get_by_role("link", name="Audit", exact=True).click()
        await page.get_by_text("revoked a key").first.wait_for()
        await page.get_by_text("created a key").first.wait_for()
        await page.get_by_role("combobox", name="Filter").fill("/v1/keys")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**action=**")


async def test_the_installations_admin_creates_a_tenant_and_ends_a_session(site: Site) -> None:
    await site.sessions.create_link("guest", "viewer", "acme")
    async with site.visit() as page:
        await page.goto("/access/tenants")
        await page.get_by_role("button", name="Create a tenant").click()
        await page.get_by_label("Slug").fill("globex")
        await page.get_by_label("Documents").fill("1,000")
        await page.get_by_role("button", name="Create the tenant").click()
        await page.get_by_text("The tenant was created.").wait_for()
        await page.get_by_role("combobox", name="Filter").fill("GLOB")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/access/tenants?q=GLOB")
        await page.get_by_role("row", name="acme").wait_for(state="detached")
        row = page.get_by_role("row", name="globex")
        await row.wait_for()
        await row.get_by_text("of 1,000").wait_for()
        await page.get_by_role("button", name="Change the limits of globex").click()
        await page.get_by_label("Documents").fill("")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("The limits apply").wait_for()
    async with site.visit("viewer", "acme") as guest, site.visit(tenant="acme") as page:
        await guest.goto("/documents")
        await page.goto("/access/sessions")
        await page.get_by_role("button", name="End the session of viewer of tests").first.click()
        await page.get_by_role("button", name="End 1 session").click()
        await page.get_by_text("The session was ended.").wait_for()
    site.states.clear()


async def test_a_viewer_sees_no_actions_and_the_api_refuses_them(site: Site) -> None:
    document = await upload(site, "viewed.txt", TEXT)
    acting = (
        "Upload|Retry|Re-index|Delete|Revoke|Create|Connect a source|Add a client|Pause|Resume|Sync now|End"
    )
    async with site.visit("viewer", "acme", watch=False) as page:
        await page.add_init_script(COUNT_REQUESTS)
        for path in (
            "/documents",
            f"/documents/{document['document_id']}",
            "/upload",
            "/sources",
            "/sources/connect",
            "/clients",
            "/access",
            "/access/sessions",
            "/access/audit",
        ):
            await settled(page, path)
            found = await page.evaluate(
                "(names) => [...document.querySelectorAll('main button, main a.button')]"
                ".map((each) => each.textContent.trim())"
                ".filter((text) => new RegExp('^(' + names + ')').test(text))",
                acting,
            )
            assert found == [], path
        for method, path in (
            ("DELETE", f"/v1/documents/{document['document_id']}"),
            ("POST", f"/v1/documents/{document['document_id']}/reindex"),
            ("POST", "/v1/keys"),
            ("POST", "/v1/sources/webhook"),
            ("POST", "/v1/operations"),
        ):
            status = await page.evaluate(
                "async ([method, path]) => (await fetch(path, {method,"
                " headers: {'Content-Type': 'application/json'},"
                " body: method === 'DELETE' ? undefined : '{}'})).status",
                [method, path],
            )
            assert status == 403, (method, path)
