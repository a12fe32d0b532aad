"""A page of another origin in the browser of somebody who is signed in: what it sends changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.plugins.console import Site
from tests.web.uploading import upload

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.timeout(120)

PAGE = b"<!doctype html><title>Another origin</title><p>Nothing to see here."
# Another port of the same host is the same site: the browser sends the session's cookie, even a strict one.
SUBMIT = """([action, fields, enctype]) => {
  const form = document.createElement('form');
  Object.assign(form, {method: 'post', action, enctype});
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input');
    Object.assign(input, {name, value});
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}"""
# Answers what the page may learn: "opaque" is nothing.
FETCH = """async ([address, method, mode, type, body]) => {
  try {
    const headers = type ? {'Content-Type': type} : {};
    const given = {method, mode, headers, credentials: 'include'};
    const answer = await fetch(address, body ? {...given, body} : given);
    return answer.type;
  } catch (error) {
    return 'refused';
  }
}"""


@asynccontextmanager
async def another_origin() -> AsyncIterator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + PAGE)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"


async def held(site: Site) -> dict[str, Any]:
    """What an attacker would change."""
    async with site.server.client() as client:
        found = {name: (await client.get(f"/v1/{name}")).json()["items"] for name in ("keys", "views")}
        documents = (await client.get("/v1/documents?limit=200")).json()["items"]
    return {
        "keys": sorted((each["key_id"], each["revoked_at"]) for each in found["keys"]),
        "views": sorted(each["name"] for each in found["views"]),
        "documents": sorted((each["document_id"], each["status"], each["indexed_at"]) for each in documents),
    }


async def submitted(page: Page, address: str, path: str, fields: dict[str, str], enctype: str) -> str:
    """What the server answered to the form of the other page, after its status."""
    async with page.expect_navigation() as navigation:
        await page.evaluate(SUBMIT, [path, fields, enctype])
    answer = await navigation.value
    assert answer is not None
    sent = await answer.request.all_headers()
    assert sent["sec-fetch-site"] == "same-site"
    assert "penstock_session" in sent["cookie"], "the request would be harmless without the session"
    said = f"{answer.status} {await answer.text()}"
    await page.goto(address)
    return said


async def test_what_another_origins_page_sends_with_the_sessions_cookie_is_refused(site: Site) -> None:
    document = await upload(site, "wanted.txt", "Wanted by a page of another origin.")
    url, one = site.server.url, f"/v1/documents/{document['document_id']}"
    before = await held(site)
    key, view = '{"name": "theirs", "scopes": ["admin"]}', '{"page": "tasks", "name": "x", "query": "?q=x"}'
    plain, form, file = "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"
    async with another_origin() as address, site.visit(tenant="acme", watch=False) as page:
        await page.goto(address)
        for path, fields, enctype in (
            (f"{one}/reindex", {}, form),
            (f"{one}/retry", {}, plain),
            ("/v1/keys", {key[:-1] + ', "x": "': '"}'}, plain),
            ("/v1/documents/upload", {"file": "theirs"}, file),
            ("/logout", {}, form),
            ("/login", {"key": site.server.key}, form),
        ):
            said = await submitted(page, address, f"{url}{path}", fields, enctype)
            assert said.startswith("403 "), (path, said)
            assert "cross-site" in said or "sign-in page itself" in said, (path, said)

        statuses: dict[str, int] = {}
        page.on("response", lambda said: statuses.update({said.request.method: said.status}))
        for method, path, mode, kind, body in (
            ("POST", f"{one}/reindex", "no-cors", None, None),
            ("POST", "/v1/keys", "no-cors", plain, key),
            ("POST", "/v1/views", "no-cors", plain, view),
            ("POST", "/v1/keys", "cors", "application/json", key),
            ("PATCH", "/v1/views", "cors", "application/json", view),
            ("DELETE", one, "cors", None, None),
            ("GET", one, "cors", None, None),
        ):
            learnt = await page.evaluate(FETCH, [f"{url}{path}", method, mode, kind, body])
            assert learnt == ("opaque" if mode == "no-cors" else "refused"), (method, path)
            if mode == "no-cors":
                assert statuses["POST"] == 403, path

        assert await held(site) == before
        await page.goto(f"{url}/documents?q=wanted")  # in a list of many, only the rows in view are drawn
        await page.get_by_role("link", name="wanted.txt").wait_for()  # still signed in
