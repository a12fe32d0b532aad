"""Small pages the server renders itself: sign-in and what to do when the console is not there."""

from __future__ import annotations

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
    """A page of plain sentences; `form` is HTML of our own."""
    said = "".join(f"<p>{escape(line)}</p>" for line in lines)
    wrong = "" if error is None else f'<p class="error" role="alert">{escape(error)}</p>'
    again = "" if reload is None else f'<meta http-equiv="refresh" content="{reload}">'
    text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">{again}
<link rel="stylesheet" href="{escape(prefix_of(request))}/login/style/page.css"></head>
<body><main><h1>{escape(title)}</h1>{wrong}{said}{form}</main></body></html>
"""
    return Response(text, status_code=status, media_type="text/html", headers=_HEADERS)


@cache
def _css() -> bytes:
    return files("penstock.api").joinpath("page", "login.css").read_bytes()
