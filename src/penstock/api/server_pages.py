"""Small pages the server renders itself: sign-in and what to do when the console is not there."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Response

from penstock.api.prefix import prefix_of

if TYPE_CHECKING:
    from fastapi import Request

router = APIRouter(include_in_schema=False)

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
}
_LOGO: Final = """<p class="brand"><svg viewBox="0 0 24 24" aria-hidden="true">
<rect width="24" height="24" rx="6"/>
<path class="gate" d="M8.5 3.5h7v8.2h-7z"/>
<path class="water" d="M3 14.6c3 0 3-1.9 6-1.9s3 1.9 6 1.9 3-1.9 6-1.9v7.5H3z"/></svg>Penstock</p>"""
_COMMAND: Final = re.compile(r"`([^`]+)`")


@router.get("/login/style/page.css")
async def style() -> Response:
    return Response(_css(), media_type="text/css", headers={"Cache-Control": "max-age=3600"})


def page(
    request: Request,
    title: str,
    lines: list[str],
    *,
    form: str = "",
    error: str | None = None,
    reload: int | None = None,
    status: int = 200,
) -> Response:
    """A page of plain sentences, with commands between backticks; `form` is HTML of our own."""
    said = "".join(f"<p>{_COMMAND.sub(_as_code, escape(line))}</p>" for line in lines)
    wrong = "" if error is None else f'<p class="error" role="alert">{escape(error)}</p>'
    again = "" if reload is None else f'<meta http-equiv="refresh" content="{reload}">'
    text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">{again}
<link rel="stylesheet" href="{escape(prefix_of(request))}/login/style/page.css"></head>
<body>{_LOGO}<main><h1>{escape(title)}</h1>{wrong}{said}{form}</main></body></html>
"""
    return Response(text, status_code=status, media_type="text/html", headers=_HEADERS)


def _as_code(command: re.Match[str]) -> str:
    return f"<code>{command[1]}</code>"


@cache
def _css() -> bytes:
    return files("penstock.api").joinpath("page", "login.css").read_bytes()
