"""Rejects requests for other host names, which protects against DNS rebinding."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from penstock.api.problem import HttpRefused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_ALL: Final = "*"
_LONGEST: Final = 255


class HostCheck:
    """IP addresses and localhost always pass: no web page can have them as its own host name.

    `names` adds what PENSTOCK_API_ALLOWED_HOSTS lists; without that list, the name the API listens on, the
    machine's own, and that of PENSTOCK_PUBLIC_URL, which providers send their users and notifications to.
    """

    def __init__(self, app: ASGIApp, *, listed: str | None, host: str, public_url: str | None = None) -> None:
        self._app = app
        public = urlsplit(public_url or "").hostname or ""
        given = [host, socket.gethostname(), public] if listed is None else listed.split(",")
        names = {name.strip().lower().rstrip(".") for name in given} - {""}
        self._everything = _ALL in names
        self._names = frozenset(names | {"localhost"})
        self._endings = (".localhost", *(name[1:] for name in names if name.startswith("*.")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._everything:
            for name, value in scope["headers"]:
                if name == b"host" and not self._is_ours(value.decode("latin-1")):
                    shown = value.decode("latin-1")[:100]
                    raise HttpRefused(
                        "misdirected",
                        f"This API does not serve the host name {shown!r}",
                        "Add the name to PENSTOCK_API_ALLOWED_HOSTS (separated by commas; * for any name)",
                        field="Host",
                    )
        await self._app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        if len(host) > _LONGEST:
            return False
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        name = name.lower().rstrip(".")
        return not name or name in self._names or name.endswith(self._endings) or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
