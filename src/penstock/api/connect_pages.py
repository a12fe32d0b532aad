"""The pages a user sees when a provider sends them back: connected and syncing, or what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from fastapi import APIRouter, FastAPI, Request, Response

from penstock.accounts import audit
from penstock.accounts.caller import SCOPES_OF, Caller, CallerTenant
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.model import KeyId, uuid7
from penstock.observe import get_logger
from penstock.sources.errors import ConnectFailed

if TYPE_CHECKING:
    from penstock.engine.services import Services
    from penstock.sources.oauth.connecting import ConnectAttempt

log = get_logger(__name__)

router = APIRouter(include_in_schema=False, prefix="/oauth")

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_WHY: Final = {
    "access_denied": "Access was denied at the provider.",
    "state_invalid": "Each link works once, for ten minutes.",
    "no_refresh_token": "The provider granted access for an hour only. Remove the app's access there first.",
}
_SOON: Final = 2
_LATER: Final = 15
_FOLLOWED: Final = {"syncing": _SOON, "never_synced": _SOON, "retrying": _LATER}
"""The states in which the page reloads itself, and after how many seconds."""


@router.get("/callback")
async def callback(request: Request) -> Response:
    """The provider's redirect: the state in it is the only authority, and works once."""
    _count(request)
    services: Services = request.app.state.engine
    given = dict(request.query_params)
    try:
        attempt = await services.connecting.take(given)
        async with _audited(request, attempt) as facts:
            connected = await services.connecting.complete(attempt, given)
            facts.update(source_id=str(connected.source_id), new=connected.is_new)
    except ConnectFailed as failed:
        why = _WHY.get(failed.reason, "")
        lines = [f"{failed.message[0].upper()}{failed.message[1:]}.", *([why] if why else [])]
        return _page("Not connected", lines, code=failed.reason, status=400, console=_has_console(request))
    except Exception as error:  # noqa: BLE001 - a person looks at this page; the log has the details
        log.error("callback_failed", error_class=type(error).__name__)
        return _page("Not connected", ["Something went wrong here. Start again in a moment."], status=500)
    # Away from the address with the code; relative, so that it works behind a prefix.
    return Response(status_code=303, headers={**_HEADERS, "Location": f"connected/{connected.page}"})


@router.get("/connected/{page}")
async def connected(request: Request, page: str) -> Response:
    """The progress of the first sync, for anyone who has the address of the page."""
    _count(request)
    services: Services = request.app.state.engine
    shown = await services.connecting.show(page[:200])
    if shown is None:
        return _page("Not found", ["This page is a day old, or does not exist."], status=404, depth=1)
    return _progress(shown, follows=_has_console(request))


@router.get("/page.css")
async def style() -> Response:
    return Response(_css(), media_type="text/css", headers={"X-Content-Type-Options": "nosniff"})


def pages_app(services: Services, *, follows: bool) -> FastAPI:
    """Only these pages, for a command that waits for the redirect itself; `follows`: also for the sync."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.engine = services
    app.state.follows = follows
    app.state.rate_limit = RateLimit()
    app.include_router(router)
    return app


@asynccontextmanager
async def _audited(request: Request, attempt: ConnectAttempt) -> AsyncIterator[dict[str, Any]]:
    """A row in the tenant's audit about the block, under the name of who asked to connect the source."""
    services: Services = request.app.state.engine
    caller = _asked_by(attempt)
    facts: dict[str, Any] = {}
    # A command that waits for the redirect itself gives its requests no ids.
    request_id = getattr(request.state, "request_id", None) or uuid7().hex
    async with services.tenants.transaction(attempt.tenant_id, durable=False) as conn:
        row = await audit.begin_audit(
            conn, caller, action="GET /oauth/callback", target=attempt.kind, request_id=request_id
        )
    status = 500
    try:
        yield facts
        status = 303
    except ConnectFailed as failed:
        status = 400
        facts["problem"] = failed.reason
        raise
    finally:
        # Also if the request was cancelled: the source may have been created.
        await asyncio.shield(_complete(services, caller, row, status, facts))


async def _complete(
    services: Services, caller: Caller, row: UUID, status: int, facts: Mapping[str, Any]
) -> None:
    try:
        async with services.tenants.transaction(caller.tenant_id, durable=False) as conn:
            await audit.end_audit(conn, caller, row, status, facts)
    except Exception as error:  # noqa: BLE001 - the source is connected, or not; the row stays without a status
        log.warning("audit_incomplete", audit_id=str(row), error=error)


def _asked_by(attempt: ConnectAttempt) -> Caller:
    """Who asked; only an admin may."""
    how, _, whose = attempt.requested_by.partition(":")
    return Caller(
        name=attempt.key_name or (whose if how == "session" else attempt.requested_by),
        role="admin",
        scopes=list(SCOPES_OF["admin"]),
        tenant=CallerTenant(
            tenant_id=attempt.tenant_id,
            slug=attempt.tenant,
            name=attempt.tenant,
            requests_per_minute=None,
            max_upload_bytes=None,
        ),
        key_id=KeyId(UUID(whose)) if how == "key" else None,
    )


def _progress(shown: Mapping[str, Any], *, follows: bool) -> Response:
    health: Mapping[str, Any] = shown["health"] or {"state": "disconnected"}
    state = health["state"]
    seen, expected = health.get("seen") or 0, health.get("expected")
    lines = [f"{shown['source']} is connected to the tenant {shown['tenant']}."]
    match state:
        case "syncing" | "never_synced":
            of = f" of about {expected:,}" if expected else ""
            items = "item" if seen == 1 and not expected else "items"
            lines.append(
                f"Syncing: {seen:,}{of} {items} read so far." if seen else "The first sync is starting."
            )
        case "healthy":
            lines.append("The first sync is complete. You can close this page.")
        case "retrying":
            lines.append(
                f"The sync is waiting and continues automatically ({health.get('code', 'unknown')})."
            )
        case "needs_you":
            lines.append("The sync has stopped and needs you: see penstock source show.")
        case "disconnected":
            lines = ["The source was disconnected again."]
        case _:
            lines.append("The source is paused.")
    if not follows:
        lines.append("You can close this page; penstock source show follows the sync.")
    bar = (min(seen, expected), expected) if state == "syncing" and expected else None
    reload = _FOLLOWED.get(state) if follows else None
    return _page(f"{shown['title']} is connected", lines, bar=bar, reload=reload, depth=1, console=follows)


def _page(
    title: str,
    lines: list[str],
    *,
    code: str | None = None,
    bar: tuple[int, int] | None = None,
    reload: int | None = None,
    status: int = 200,
    depth: int = 0,
    console: bool = False,
) -> Response:
    said = "".join(f"<p>{escape(line)}</p>" for line in lines)
    shown_code = "" if code is None else f"<p>Code: <code>{escape(code)}</code></p>"
    shown_bar = "" if bar is None else f'<progress value="{bar[0]}" max="{bar[1]}"></progress>'
    again = "" if reload is None else f'<meta http-equiv="refresh" content="{reload}">'
    back = f'<p><a href="{"../" * (depth + 1)}sources">Back to the sources</a></p>' if console else ""
    text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">{again}
<link rel="stylesheet" href="{"../" * depth}page.css"></head>
<body><main><h1>{escape(title)}</h1>{said}{shown_bar}{shown_code}{back}</main></body></html>
"""
    return Response(text, status_code=status, media_type="text/html", headers=_HEADERS)


def _has_console(request: Request) -> bool:
    """Whether the whole API serves this page, and not a command that only waits for the redirect."""
    return bool(getattr(request.app.state, "follows", True))


def _count(request: Request) -> None:
    """Nobody has a key here, so every address has its own allowance."""
    limits: RateLimit = request.app.state.rate_limit
    asker = None if request.client is None else request.client.host
    services: Services = request.app.state.engine
    refuse_over(limits.take(("connect", asker), services.settings.requests_per_minute))


@cache
def _css() -> bytes:
    return files("penstock.api").joinpath("page", "connect.css").read_bytes()
