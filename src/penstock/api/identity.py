"""Authenticates a request: its API key or session, the scopes it needs, and its tenant's rate limit."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from fastapi import Request  # noqa: TC002 - FastAPI reads the annotations of Needs at run time

from penstock.accounts import Caller, Scope
from penstock.accounts.caller import TENANT_HEADER
from penstock.accounts.installation_keys import INSTALLATION_PREFIX
from penstock.accounts.sessions import refuse_other_tenant
from penstock.api import console_auth
from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.engine.engine import Engine
from penstock.net.bearer import api_key

COOKIE: Final = "penstock_session"
_LONGEST_SLUG: Final = 63
_LONGEST_ORIGIN: Final = 500
_LONGEST_PORT: Final = 5
_LONGEST_TOKEN: Final = 256
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def engine_of(request: Request) -> Engine:
    """The services behind this API."""
    engine: Engine = request.app.state.engine
    return engine


def caller_of(request: Request) -> Caller:
    """The caller; the route class has authenticated it before any handler runs."""
    caller: Caller = request.state.caller
    return caller


async def identify(request: Request) -> Caller:
    """Read the key or cookie, count the request against the rate limit, and remember the caller.

    A key goes before a cookie. A cookie is sent by the browser itself, so whatever changes something with it
    must come from our own pages.
    """
    named = named_tenant(request)
    caller = await signed_in(request, named)
    if caller is None:
        caller = await holder_of_key(request, named)
    else:
        refuse_cross_site(request)
    admit(request, caller)
    request.state.caller = caller
    return caller


async def holder_of_key(request: Request, named: str | None) -> Caller:
    """Whose key the request has: a program's of one tenant, or of the installation. Raises KeyRefused."""
    secret = api_key(request.headers)
    if secret.startswith(INSTALLATION_PREFIX):
        return await engine_of(request).installation_keys.authenticate(secret, named)
    caller = await engine_of(request).accounts.authenticate(secret)
    refuse_other_tenant(caller.tenant_slug, named)
    return caller


async def signed_in(request: Request, named: str | None = None) -> Caller | None:
    """Who is signed in, None if the request has a key or no session; raises KeyRefused for an ended one."""
    if "authorization" in request.headers or "x-api-key" in request.headers:
        return None
    engine = engine_of(request)
    if engine.settings.console_auth == "off":
        return await console_auth.local_admin(engine, request, named)
    token = session_cookie(request.headers.get("cookie", ""), cookie_name(request))
    return None if not token else await engine.sessions.authenticate(token, named)


def presented_secret(request: Request) -> str | None:
    """The API key or session token of an authenticated request; None where no sign-in is needed."""
    if "authorization" in request.headers or "x-api-key" in request.headers:
        return api_key(request.headers)
    if engine_of(request).settings.console_auth == "off":
        return None
    return session_cookie(request.headers.get("cookie", ""), cookie_name(request))


def cookie_name(request: Request) -> str:
    """The cookie of this installation: browsers send a host's cookies to all its ports, so that the port, if
    the address names one, is part of the name."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isascii() and port.isdigit() and len(port) <= _LONGEST_PORT else COOKIE


def session_cookie(header: str, cookie: str = COOKIE) -> str | None:
    """The session's token in a Cookie header; Python's own parser takes quadratic time on some."""
    for part in header.split(";"):
        name, _, value = part.partition("=")
        if name.strip() == cookie:
            return value.strip()[:_LONGEST_TOKEN] or None
    return None


def named_tenant(request: Request) -> str | None:
    """The tenant that a request names: in the header, or in the query of a GET, which an image or a link
    can send."""
    named = request.headers.get(TENANT_HEADER)
    if named is None and request.method in _SAFE:
        named = request.query_params.get("tenant")
    return named[: _LONGEST_SLUG + 1] if named else None


def refuse_cross_site(request: Request) -> None:
    """Reject a change that another site's page caused in the browser of somebody who is signed in."""
    if request.method in _SAFE or is_same_origin(request):
        return
    raise HttpRefused(
        "cross-site",
        "A request with a session's cookie that changes something must come from the console itself",
        "Use an API key in programs: Authorization: Bearer pk_…",
        field="Sec-Fetch-Site",
    )


def is_same_origin(request: Request) -> bool:
    """Whether our own page caused this request. Browsers tell it, over plain HTTP to another machine only by
    the Origin; what tells neither is no browser, or an old one."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(request.headers.get("origin", "")[:_LONGEST_ORIGIN])
    return bool(origin.netloc) and origin.netloc.lower() == request.headers.get("host", "").lower()


def admit(request: Request, caller: Caller) -> None:
    """Count a request against the tenant's rate limit; raises an error when it is exceeded."""
    limits: RateLimit = request.app.state.rate_limit
    per_minute = caller.requests_per_minute or engine_of(request).settings.requests_per_minute
    who = "installation" if caller.is_installation else caller.tenant_id
    allowance = limits.take(who, per_minute)
    request.state.rate_headers = allowance.headers()
    refuse_over(allowance)


class Needs:
    """A dependency: the caller, who must have this scope; None for anybody.

    A call is about a tenant. With `installation` it may also be about the whole installation, for somebody
    signed in to it who names no tenant; without `tenant` it is for nobody else.
    """

    def __init__(self, scope: Scope | None, *, installation: bool = False, tenant: bool = True) -> None:
        self.scope = scope
        self.installation = installation
        self.tenant = tenant

    async def __call__(self, request: Request) -> Caller:
        # A coroutine even though it waits for nothing: FastAPI would run a plain function in a thread.
        caller = caller_of(request)
        if not self.tenant and not caller.is_installation:
            raise HttpRefused(
                "forbidden",
                "Only somebody signed in to the installation, or a key of the installation, may do this",
                "Sign in to it: penstock login. For a program: penstock key create --role operator",
                field="role",
            )
        refuse_without(caller, self.scope)
        if not self.installation:
            _ = caller.tenant_id  # raises for somebody who names no tenant
        return caller


def refuse_without(caller: Caller, scope: Scope | None) -> None:
    """Raise an error if the caller lacks a scope."""
    if scope is not None and not caller.may(scope):
        raise _lacks(caller, scope)


def _lacks(caller: Caller, scope: Scope) -> HttpRefused:
    if caller.key_id is None:
        return HttpRefused(
            "forbidden",
            f"The role {caller.role} lacks the scope {scope}",
            "Ask an admin, or sign in with another role: penstock login --role",
            field="scope",
        )
    if caller.is_installation:
        return HttpRefused(
            "forbidden",
            f"The key's role {caller.role} lacks the scope {scope}",
            "Create one with another role: penstock key create --role",
            field="scope",
        )
    return HttpRefused(
        "forbidden",
        f"The key lacks the scope {scope}",
        f"Use a key with the scope {scope}, or create one: POST /v1/keys",
        field="scope",
    )
