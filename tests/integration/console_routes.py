"""Every call of the API as the route table has it, with an address that names nothing that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

from penstock.api.app import ROUTERS
from penstock.api.guarded import GuardedRoute, StreamedRoute

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class GuardedCall:
    operation_id: str
    method: str
    template: str
    path: str

    @property
    def action(self) -> str:
        return f"{self.method} {self.template}"


def guarded_calls() -> Iterator[GuardedCall]:
    """The calls with a key or session, each method apart."""
    for route in (route for router in ROUTERS for route in router.routes):
        if isinstance(route, GuardedRoute | StreamedRoute):
            for method in sorted(route.methods or ()):
                path = re.sub(r"\{(\w+)\}", _value, route.path)
                yield GuardedCall(str(route.operation_id), method, route.path, path)


def unsafe_calls() -> list[GuardedCall]:
    """Those that may change something."""
    return [call for call in guarded_calls() if call.method not in SAFE]


def _value(parameter: re.Match[str]) -> str:
    name = parameter[1]
    return str(uuid4()) if name.endswith("_id") else "9" if name in ("page", "n") else "nothing"
