"""Signing in and out of the console: with an API key, or with a one-time link of `penstock login`."""

from __future__ import annotations

import re
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Path, Request, Response

from penstock.api.auditing import note_session
from penstock.api.bodies import read_whole
from penstock.api.identity import cookie_name, engine_of, is_same_origin, session_cookie, signed_in
from penstock.api.prefix import prefix_of
from penstock.api.problem import HttpRefused
from penstock.api.server_pages import page
from penstock.errors import KeyRefused, TenantClosed
from penstock.net.bearer import LONGEST_KEY

if TYPE_CHECKING:
    from penstock.accounts.sessions import SessionToken
    from penstock.api.secret_guesses import SecretGuesses

router = APIRouter(include_in_schema=False)

_FORM_BYTES: Final = 8_192
_COOKIE_SECONDS: Final = 7 * 86_400
"""As long as a session can last; the server decides whether it still does."""
_NEXT: Final = re.compile(r"/(?![/\\])[!-\[\]-~]{0,1999}")
"""A path of our own: a second slash or a backslash would name another host."""
_HOW: Final = [
    "Sign in with an API key, or run `penstock login` on the server and open the link it prints.",
]

Token = Annotated[str, Path(max_length=200)]


@router.get("/login")
async def show(request: Request) -> Response:
    """The form, or the console for somebody who is signed in already."""
    target = safe_next(request.query_params.get("next"))
    try:
        if await signed_in(request) is not None:
            return _go(request, target)
    except (KeyRefused, TenantClosed):
        pass
    return _form(request, target)


@router.post("/login")
async def sign_in(request: Request) -> Response:
    """Start a session with a key; it ends with the key."""
    _refuse_other_site(request)
    sent = await _fields(request)
    target = safe_next(sent.get("next"))
    guesses, address = _guessing(request)
    key = sent.get("key", "").strip()
    if not key:
        return _form(request, target, error="Enter an API key: it starts with pk_", status=422)
    engine = engine_of(request)
    try:
        if len(key) > LONGEST_KEY or not key.isascii():
            raise KeyRefused("there is no such key", "key")
        caller = await engine.accounts.authenticate(key)
        started = await engine.sessions.start(caller)
    except (KeyRefused, TenantClosed) as refused:
        guesses.wrong(address)
        return _form(request, target, error=_sentence(refused.message), status=401)
    guesses.right(address)
    await note_session(request, caller, "POST /login")
    return _go(request, target, started)


@router.get("/login/{token}")
async def show_link(request: Request, token: Token) -> Response:
    """A page with a button: programs that look at links in messages must not use it up."""
    action = f"{prefix_of(request)}/login/{quote(token, safe='')}"
    button = f'<form method="post" action="{escape(action)}"><button>Sign in</button></form>'
    return page(request, "Sign in to Penstock", ["This link works once, for ten minutes."], form=button)


@router.post("/login/{token}")
async def use_link(request: Request, token: Token) -> Response:
    """Start the session of a link, once."""
    _refuse_other_site(request)
    guesses, address = _guessing(request)
    started = await engine_of(request).sessions.use_link(token)
    if started is None:
        guesses.wrong(address)
        why = "The link was used already, has expired, or is incomplete."
        return page(request, "Not signed in", ["For a new one, run: `penstock login`"], error=why, status=401)
    guesses.right(address)
    caller = await engine_of(request).sessions.authenticate(started.token)
    await note_session(request, caller, "POST /login/{token}")
    return _go(request, "/", started)


@router.post("/logout")
async def sign_out(request: Request) -> Response:
    """End the session and forget its cookie."""
    _refuse_other_site(request)
    token = session_cookie(request.headers.get("cookie", ""), cookie_name(request))
    if token:
        sessions = engine_of(request).sessions
        with suppress(KeyRefused, TenantClosed):  # it has ended already: nobody signs out
            await note_session(request, await sessions.authenticate(token), "POST /logout")
        await sessions.end_own(token)
    response = Response(status_code=303, headers={"Location": f"{prefix_of(request)}/login"})
    _set_cookie(request, response, "", 0)
    return response


def safe_next(target: str | None) -> str:
    """Where to go after signing in: a path of this site, whatever the link said."""
    return target if target and _NEXT.fullmatch(target) else "/"


def _form(request: Request, target: str, *, error: str | None = None, status: int = 200) -> Response:
    fields = f"""<form method="post" action="{escape(prefix_of(request))}/login">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" placeholder="pk_…"
 required autofocus>
<input type="hidden" name="next" value="{escape(target)}">
<button>Sign in</button></form>"""
    return page(request, "Sign in to Penstock", _HOW, form=fields, error=error, status=status)


def _go(request: Request, target: str, started: SessionToken | None = None) -> Response:
    response = Response(status_code=303, headers={"Location": prefix_of(request) + target})
    if started is not None:
        _set_cookie(request, response, started.token, _COOKIE_SECONDS)
    return response


def _set_cookie(request: Request, response: Response, value: str, seconds: int) -> None:
    """Strict: the browser sends it to our own pages only, so that no other site can act in its name."""
    public = engine_of(request).settings.public_url or ""
    response.set_cookie(
        cookie_name(request),
        value,
        max_age=seconds,
        path=prefix_of(request) or "/",
        secure=request.url.scheme == "https" or public.startswith("https:"),
        httponly=True,
        samesite="strict",
    )


def _refuse_other_site(request: Request) -> None:
    if not is_same_origin(request):
        raise HttpRefused(
            "cross-site",
            "The form must be sent from the sign-in page itself",
            "Open the sign-in page in a browser",
            field="Sec-Fetch-Site",
        )


def _guessing(request: Request) -> tuple[SecretGuesses, str | None]:
    guesses: SecretGuesses = request.app.state.login_guesses
    address = None if request.client is None else request.client.host
    guesses.refuse_over(address)
    return guesses, address


async def _fields(request: Request) -> dict[str, str]:
    body = await read_whole(request, _FORM_BYTES, what="form")
    try:
        found = parse_qs(body.decode("ascii"), max_num_fields=10)
    except ValueError:
        raise HttpRefused("bad-request", "The form cannot be read", "Send it from the page") from None
    return {name: values[0] for name, values in found.items()}


def _sentence(message: str) -> str:
    return f"{message[0].upper()}{message[1:]}."
