"""The authorisation endpoint: checks the client's request, asks the user, and redirects with a code."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Final
from urllib.parse import urlencode, urlsplit

from starlette.responses import HTMLResponse, RedirectResponse, Response

from penstock.simulators.providers.oauth.vendors import REALM_ID, Vendor

_LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A valid request for consent."""

    client_id: str
    redirect_uri: str
    state: str
    scopes: frozenset[str]
    challenge: str | None
    offline: bool
    account: str | None


@dataclass(frozen=True, slots=True)
class Code:
    """An authorisation code, good for one use within ten minutes."""

    asked: Asked
    made: datetime


def read(
    vendor: Vendor, query: Mapping[str, str], client_id: str, redirects: frozenset[str]
) -> Asked | Response:
    """The request, or the answer that rejects it: a page while the client is not proven, then a redirect."""
    if query.get("client_id") != client_id:
        return _page(vendor, "invalid_client", "The OAuth client was not found.", 401)
    redirect = query.get("redirect_uri", "")
    if not _may_redirect(redirect, redirects):
        return _page(
            vendor, "redirect_uri_mismatch", f"The redirect_uri {redirect!r} is not registered.", 400
        )
    state = query.get("state", "")

    def refuse(error: str, why: str) -> Response:
        return to_client(redirect, {"error": error, "error_description": why, "state": state})

    if not state:
        return refuse("invalid_request", "state is missing")
    if query.get("response_type", "code") != "code":
        return refuse("unsupported_response_type", "response_type must be code")
    scopes = frozenset(each.removeprefix(vendor.scope_prefix) for each in query.get("scope", "").split())
    if not scopes or not scopes <= vendor.scopes:
        unknown = ", ".join(sorted(scopes - vendor.scopes)) or "none was asked for"
        return refuse("invalid_scope", f"unknown scopes: {unknown}")
    challenge = query.get("code_challenge")
    if (challenge or vendor.needs_pkce) and (
        query.get("code_challenge_method") != "S256" or len(challenge or "") != 43
    ):
        return refuse("invalid_request", "PKCE is required: code_challenge with code_challenge_method=S256")
    match vendor.family:
        case "google":
            offline = query.get("access_type") == "offline" and "consent" in query.get("prompt", "").split()
        case "microsoft":
            offline = "offline_access" in scopes
        case _:
            offline = True
    return Asked(query["client_id"], redirect, state, scopes, challenge, offline, query.get("login_hint"))


def to_client(redirect_uri: str, answer: Mapping[str, str]) -> Response:
    """Back to the client with these parameters."""
    joint = "&" if urlsplit(redirect_uri).query else "?"
    return RedirectResponse(f"{redirect_uri}{joint}{urlencode(answer)}", 302)


def allowed(vendor: Vendor, asked: Asked, code: str) -> Response:
    answer = {"code": code, "state": asked.state}
    if vendor.family == "intuit":
        answer["realmId"] = REALM_ID
    if vendor.family == "google":
        answer["scope"] = " ".join(sorted(asked.scopes))
    return to_client(asked.redirect_uri, answer)


def denied(asked: Asked) -> Response:
    return to_client(asked.redirect_uri, {"error": "access_denied", "state": asked.state})


def new_code(vendor: Vendor) -> str:
    return f"sim-{vendor.provider}-code-{secrets.token_urlsafe(24)}"


def ask(vendor: Vendor, asked: Asked, request_id: str, account: str) -> Response:
    """The page with the buttons Allow and Cancel; they post the request's id."""
    scopes = "".join(f"<li><code>{escape(scope)}</code></li>" for scope in sorted(asked.scopes))
    where = urlsplit(asked.redirect_uri).netloc
    return HTMLResponse(
        _PAGE.format(
            title=f"Simulated {vendor.title}",
            content=f"""
<p><strong>{escape(where)}</strong> wants to read data of <strong>{escape(account)}</strong>:</p>
<ul>{scopes}</ul>
<form method="post">
<input type="hidden" name="request" value="{escape(request_id)}">
<button name="decision" value="allow" autofocus>Allow</button>
<button name="decision" value="deny">Cancel</button>
</form>
<p><small>This is a simulator: no account is involved.</small></p>""",
        )
    )


def _may_redirect(uri: str, registered: frozenset[str]) -> bool:
    if registered:
        return uri in registered
    parts = urlsplit(uri)
    return parts.scheme in ("http", "https") and parts.hostname in _LOOPBACK and not parts.fragment


def _page(vendor: Vendor, error: str, why: str, status: int) -> Response:
    content = f"<p>Error {status}: <code>{escape(error)}</code></p><p>{escape(why)}</p>"
    return HTMLResponse(_PAGE.format(title=f"Simulated {vendor.title}", content=content), status)


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px/1.5 system-ui;max-width:34rem;margin:4rem auto;padding:0 1rem}}
button{{font:inherit;padding:.4rem 1.2rem;margin-right:.5rem}}</style></head>
<body><h1>{title}</h1>{content}</body></html>
"""
