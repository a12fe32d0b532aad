"""Every call of the API as the route table has it, with an address that names nothing that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

from fastapi.routing import APIRoute

from penstock.api.app import ROUTERS
from penstock.api.guarded import GuardedRoute, StreamedRoute
from penstock.api.identity import Needs

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
GETS_THAT_CHANGE = {"connectSource"}
"""A browser goes there by a link."""
SHOWN_TO_ADMINS = {"listKeys", "showContact", "listSessions", "listInstallationKeys", "listAudit"}
"""The other GETs that a viewer may not call."""
SENT_BY_PROGRAMS = {
    *("POST /webhooks/outlook", "POST /webhooks/gmail", "POST /webhook/{tenant_slug}"),
    "POST /internal/embed",
}
"""Calls without a key or session that no person makes: a delivery has a history of its own."""


@dataclass(frozen=True, slots=True)
class GuardedCall:
    operation_id: str
    method: str
    template: str
    path: str
    scopes: tuple[str | None, ...] = ()

    @property
    def action(self) -> str:
        return f"{self.method} {self.template}"


def guarded_calls() -> Iterator[GuardedCall]:
    """The calls with a key or session, each method apart."""
    for route in (route for router in ROUTERS for route in router.routes):
        if isinstance(route, GuardedRoute | StreamedRoute):
            for method in sorted(route.methods or ()):
                path = re.sub(r"\{(\w+)\}", _value, route.path)
                needed = [each.call for each in route.dependant.dependencies]
                scopes = tuple(call.scope for call in needed if isinstance(call, Needs))
                yield GuardedCall(str(route.operation_id), method, route.path, path, scopes)


def unsafe_calls() -> list[GuardedCall]:
    """Those with a method that may change something, which no other site's page may send."""
    return [call for call in guarded_calls() if call.method not in SAFE]


def changing_calls() -> list[GuardedCall]:
    """Those that may change something, whatever their method."""
    return [
        call for call in guarded_calls() if call.method not in SAFE or call.operation_id in GETS_THAT_CHANGE
    ]


def open_calls() -> set[str]:
    """The calls without a key or session, as METHOD path."""
    return {
        f"{method} {route.path}"
        for route in (route for router in ROUTERS for route in router.routes)
        if isinstance(route, APIRoute) and not isinstance(route, GuardedRoute | StreamedRoute)
        for method in route.methods or ()
    }


def _value(parameter: re.Match[str]) -> str:
    name = parameter[1]
    return str(uuid4()) if name.endswith("_id") else "9" if name in ("page", "n") else "nothing"
