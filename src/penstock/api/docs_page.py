"""Serves our own page for openapi.json; no script, style or font is loaded from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Response

from penstock.api.problem import HttpRefused

router = APIRouter(include_in_schema=False)

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KINDS: Final = {"page.js": "text/javascript", "page.css": "text/css"}


@router.get("/docs")
async def page() -> Response:
    return Response(_read("index.html"), media_type="text/html", headers={"Content-Security-Policy": _POLICY})


@router.get("/docs/{name}")
async def page_file(name: str) -> Response:
    if name not in _KINDS:
        raise HttpRefused("not-found", f"There is no page {name[:100]}", "Open /docs")
    return Response(_read(name), media_type=_KINDS[name])


@cache
def _read(name: str) -> bytes:
    return files("penstock.api").joinpath("page", name).read_bytes()
