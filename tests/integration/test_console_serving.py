"""Serving the console: its page, its assets, its policy, and a path prefix."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from penstock.api.console_pages import POLICY
from penstock.console.bundle import Bundle
from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.integration.console_client import browser, signed_in
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
INDEX = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<script type="module" src="./assets/index-B1x_2-3y.js"></script>
<link rel="stylesheet" href="./assets/index-AAAAAAAA.css"><link rel="icon" href="./icon.svg">
</head><body><div id="root"></div></body></html>"""
SCRIPT = "console.log('penstock');\n" * 100


@asynccontextmanager
async def built(database: Database, folder: Path, **settings: Any) -> AsyncIterator[ApiServer]:
    """The API with a console of three files."""
    dist = folder / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text(INDEX)
    (dist / "icon.svg").write_text("<svg/>")
    (dist / "assets" / "index-B1x_2-3y.js").write_text(SCRIPT)
    (folder / "secret.txt").write_text("not for the web")
    async with api_server(database, folder, **settings) as server:
        server.api.state.bundle = Bundle(dist)
        yield server


async def test_every_page_of_the_console_is_its_index_with_a_strict_policy(
    database: Database, tmp_path: Path
) -> None:
    async with built(database, tmp_path) as server, signed_in(server, "viewer", "acme") as client:
        for path in ("/", "/documents", "/documents/018f?tab=chunks", "/sources/a.b/c"):
            answer = await client.get(path, headers=HTML)
            assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
            assert answer.headers["content-security-policy"] == POLICY
            assert answer.headers["cache-control"] == "no-cache"
            assert 'src="/assets/index-B1x_2-3y.js"' in answer.text
            assert '<meta name="penstock-prefix" content="">' in answer.text
            assert "<base" not in answer.text


async def test_assets_are_cached_forever_and_compressed_and_nothing_else_is_served(
    database: Database, tmp_path: Path
) -> None:
    async with built(database, tmp_path) as server, browser(server) as client:
        answer = await client.get("/assets/index-B1x_2-3y.js")
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert (answer.headers["content-encoding"], answer.text) == ("gzip", SCRIPT)
        plain = await client.get("/assets/index-B1x_2-3y.js", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.text == SCRIPT
        icon = await client.get("/icon.svg")
        assert (icon.headers["content-type"], icon.headers["cache-control"]) == ("image/svg+xml", "no-cache")
        for path in ("/assets/nothing.js", "/assets/..%2Findex.html", "/assets/%2e%2e%2fsecret.txt"):
            assert_problem(await client.get(path), 404)
        assert_problem(await client.get("/..%2Fsecret.txt"), 404)


async def test_unknown_paths_of_the_api_stay_problems(database: Database, tmp_path: Path) -> None:
    async with built(database, tmp_path) as server, signed_in(server) as client:
        for path in ("/v1/nothing", "/v1", "/webhooks/nothing", "/internal/x", "/docs/nothing", "/assets/x"):
            assert_problem(await client.get(path, headers=HTML), 404)
        assert_problem(await client.get("/documents"), 404)  # a program, which accepts no page
        assert_problem(await client.post("/documents", headers=HTML), 404)
        assert_problem(await client.get("/v1/search", headers=HTML), 422, "X-Penstock-Tenant")


async def test_nobody_sees_the_console_before_signing_in(database: Database, tmp_path: Path) -> None:
    async with built(database, tmp_path) as server, browser(server) as client:
        sent = await client.get("/documents?status=failed&q=a+b", headers=HTML)
        assert sent.status_code == 303
        assert sent.headers["location"] == "/login?next=/documents%3Fstatus%3Dfailed%26q%3Da%2Bb"
        form = await client.get(sent.headers["location"])
        assert 'name="next" value="/documents?status=failed&amp;q=a+b"' in form.text
        assert "style-src 'self'" in form.headers["content-security-policy"]
        key = await server.another_key("admin")
        back = await client.post("/login", data={"key": key, "next": "/documents?status=failed&q=a+b"})
        assert back.headers["location"] == "/documents?status=failed&q=a+b"
        assert (await client.get("/login")).headers["location"] == "/"
        # A link on another site: a strict cookie is not sent with it, but with the reload.
        client.cookies.clear()
        linked = await client.get("/documents", headers={**HTML, "Sec-Fetch-Site": "cross-site"})
        assert '<meta http-equiv="refresh" content="0">' in linked.text


async def test_the_console_works_under_a_path_whether_the_proxy_removes_it_or_not(
    database: Database, tmp_path: Path
) -> None:
    async with built(database, tmp_path, api_prefix="/tools/penstock/") as server:
        async with browser(server) as client:
            for path in ("/tools/penstock", "/tools/penstock/", "/"):
                sent = await client.get(path, headers=HTML)
                assert sent.headers["location"] == "/tools/penstock/login"
            form = await client.get("/tools/penstock/login")
            assert 'action="/tools/penstock/login"' in form.text
            assert (await client.get("/tools/penstock/login/style/page.css")).status_code == 200
            key = await server.another_key("admin")
            answer = await client.post("/tools/penstock/login", data={"key": key, "next": "/tasks"})
            assert answer.headers["location"] == "/tools/penstock/tasks"
            assert (await client.get("/tools/penstock/v1/session")).json()["prefix"] == "/tools/penstock"
            shown = await client.get("/tools/penstock/tasks", headers=HTML)
            assert 'src="/tools/penstock/assets/index-B1x_2-3y.js"' in shown.text
            assert '<meta name="penstock-prefix" content="/tools/penstock">' in shown.text
            assert (await client.get("/tools/penstock/assets/index-B1x_2-3y.js")).status_code == 200
            assert_problem(await client.get("/tools/penstock/v1/nothing"), 404)
            assert_problem(await client.get("/tools/penstockade", headers={"Accept": "*/*"}), 404)


async def test_without_a_built_console_a_page_says_how_to_build_it(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, signed_in(server, "viewer", "acme") as client:
        server.api.state.bundle = Bundle(tmp_path / "nothing")
        answer = await client.get("/", headers=HTML)
        assert answer.status_code == 200
        assert "The console is not built" in answer.text
        assert "make console" in answer.text


def test_a_console_without_sign_in_is_refused_beyond_this_machine(penstock: CommandLine) -> None:
    local = penstock.with_variables(PENSTOCK_CONSOLE_AUTH="off")
    for command in ("up", "api"):
        ended = local(command, "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - what must be refused
        assert ended.code == 1
        assert "PENSTOCK_CONSOLE_AUTH" in ended.err
        assert "Listen on 127.0.0.1" in ended.err
