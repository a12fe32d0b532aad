"""Serves the console: its page for every path that is no call of the API, and its assets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from penstock.api.identity import signed_in
from penstock.api.prefix import prefix_of
from penstock.api.problem import HttpRefused
from penstock.api.server_pages import page
from penstock.console.bundle import Bundle, BundleFile
from penstock.errors import KeyRefused, TenantClosed

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

router = APIRouter(include_in_schema=False)

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_FOREVER: Final = "public, max-age=31536000, immutable"
_BUILD: Final = (
    "This installation has no console: it was not built. The API works without it.",
    "In a checkout of Penstock run: `make console`",
    "Then reload this page. A released package has the console built in.",
)


@router.get("/")
async def home(request: Request) -> Response:
    return await console_page(request)


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    found = await asyncio.to_thread(_bundle(request).asset, name)  # the first read compresses it
    if found is None:
        raise HttpRefused("not-found", f"There is no file {name[:100]}", "Reload the page")
    return _sent(request, found)


async def console_page(request: Request) -> Response:
    """The console's page for people who are signed in; others are sent to the sign-in page."""
    try:
        caller = await signed_in(request)
    except (KeyRefused, TenantClosed):
        caller = None
    if caller is None:
        if request.headers.get("sec-fetch-site") == "cross-site":
            # A link on another site: the browser sends a strict cookie only once our own page asks for it.
            return page(request, "Penstock", ["Opening the console …"], reload=0)
        path = request.scope["path"] + (f"?{request.url.query}" if request.url.query else "")
        where = "" if path == "/" else f"?next={quote(path, safe='/')}"
        return Response(status_code=303, headers={"Location": f"{prefix_of(request)}/login{where}"})
    shown = _bundle(request).index(prefix_of(request))
    if shown is None:
        return page(request, "The console is not built", list(_BUILD))
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache", "Vary": "Cookie"}
    return Response(shown, media_type="text/html", headers=headers)


async def page_instead(request: Request, api: frozenset[str]) -> Response | None:
    """What a browser gets for a path that is no call of the API; None for everything else."""
    path: str = request.scope["path"]
    first = path[1:].partition("/")[0]
    if request.method not in ("GET", "HEAD") or first in api:
        return None
    if path == f"/{first}":
        found = await asyncio.to_thread(_bundle(request).root_file, first)
        if found is not None:
            return _sent(request, found)
    if "text/html" not in request.headers.get("accept", ""):
        return None
    return await console_page(request)


def api_segments(routes: Iterable[BaseRoute]) -> frozenset[str]:
    """The first segment of every route: below it an unknown path is an error, never the console."""
    paths = (getattr(route, "path", "") for route in routes)
    return frozenset({path[1:].partition("/")[0] for path in paths} - {""})


def _bundle(request: Request) -> Bundle:
    bundle: Bundle = request.app.state.bundle
    return bundle


def _sent(request: Request, found: BundleFile) -> Response:
    headers = {
        "Cache-Control": _FOREVER if found.immutable else "no-cache",
        "Vary": "Accept-Encoding",
        # A worker follows the policy of its own script, and the event stream is read by one.
        "Content-Security-Policy": POLICY,
    }
    content = found.content
    if found.gzipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
        content = found.gzipped
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type=found.media_type, headers=headers)
