"""What a provider serves over HTTP: endpoints with a name, found by method and path."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl

from penstock.simulators.providers.faults import Surface

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from penstock.simulators.providers.oauth.grants import Grant

Handle: TypeAlias = "Callable[[Call], Response | Awaitable[Response]]"


@dataclass(frozen=True)
class Call:
    """One request as its handler sees it."""

    request: Request
    body: bytes
    path: dict[str, str]
    grant: Grant | None = None

    @property
    def query(self) -> dict[str, str]:
        """The query; of a repeated name the last value."""
        return dict(self.request.query_params)

    @cached_property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))

    @cached_property
    def json(self) -> Any:
        """The body as JSON; an empty object if it is none."""
        try:
            return json.loads(self.body or b"{}")
        except ValueError:
            return {}

    @property
    def authorization(self) -> str | None:
        return self.request.headers.get("authorization")

    @property
    def base(self) -> str:
        """The address this server was reached by, without a path."""
        return f"{self.request.url.scheme}://{self.request.url.netloc}"


@dataclass(frozen=True)
class Endpoint:
    """An operation; `scopes`: one of them is needed. `public` ones need no bearer token."""

    method: str
    path: str
    operation: str
    handle: Handle
    surface: Surface = "rest"
    scopes: frozenset[str] = field(default_factory=frozenset)
    public: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(
            "^"
            + re.sub(
                r"\{(\w+)\}", r"(?P<\1>[^/]+)", re.escape(self.path).replace(r"\{", "{").replace(r"\}", "}")
            )
            + "$"
        )


def find(endpoints: Iterable[Endpoint], method: str, path: str) -> tuple[Endpoint, dict[str, str]] | None:
    """The endpoint of a request and the values in its path."""
    for endpoint in endpoints:
        if endpoint.method == method and (found := endpoint.pattern.match(path)):
            return endpoint, found.groupdict()
    return None
