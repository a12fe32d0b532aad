"""What the simulated providers have in common: OAuth endpoints, MCP paths and the shape of their errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.limiter import Limiter
from penstock.simulators.providers.oauth import identity
from penstock.simulators.providers.oauth.grants import Grant, Refusal
from penstock.simulators.providers.oauth.server import OAuthServer
from penstock.simulators.providers.oauth.vendors import Vendor

if TYPE_CHECKING:
    from penstock.simulators.providers.faults import ProviderFault
    from penstock.simulators.providers.push.emitter import Emitter
    from penstock.simulators.providers.tools import Tool
    from penstock.simulators.providers.world.world import World

Eras: TypeAlias = Literal["both", "legacy"]


class SimulatedProvider(ABC):
    """One vendor. Subclasses add REST endpoints, tools and the vendor's error bodies."""

    vendor: ClassVar[Vendor]
    mcp_path: ClassVar[str | None] = "/mcp"
    sandbox_path: ClassVar[str | None] = "/sandbox/mcp"
    """None: the vendor has no MCP server."""
    identity_path: ClassVar[str | None] = None
    """Where to ask which account was connected; none: it is a call of the API."""
    most_at_once: ClassVar[int | None] = None
    """More requests for data at the same time are answered with 429; see `concurrency_key`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.oauth = OAuthServer(self.vendor, world.clock)
        self.eras: Eras = "both"
        """`legacy` makes it a server that only knows the protocol with a handshake."""
        self.json_responses = False
        """Answer legacy MCP requests with JSON instead of a stream of events."""
        self.limiter = Limiter()
        """`limiter.set(100, 10)`: more than 100 requests for data in 10 s are answered with 429."""
        self.emitter: Emitter | None = None
        """Sends the vendor's notifications."""
        self.endpoints = [*self._oauth_endpoints(), *self.rest()]

    @property
    def name(self) -> str:
        return self.vendor.provider

    @abstractmethod
    def rest(self) -> Sequence[Endpoint]:
        """The vendor's REST operations."""

    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """The tools of the vendor's own MCP server."""

    @abstractmethod
    def sandbox_tools(self) -> Sequence[Tool]:
        """The logical methods, with results shaped like the vendor's REST API."""

    @abstractmethod
    def unauthorized(self, refusal: Refusal) -> Response: ...

    @abstractmethod
    def missing_scopes(self, scopes: Sequence[str]) -> Response: ...

    @abstractmethod
    def rate_limited(self, fault: ProviderFault) -> Response: ...

    @abstractmethod
    def server_error(self, status: int, message: str) -> Response: ...

    @abstractmethod
    def expired_page_token(self) -> Response | None:
        """None: the endpoint rejects the token itself."""

    @abstractmethod
    def not_found(self, path: str) -> Response: ...

    def more_settings(self, root: str) -> dict[str, str]:
        """Settings of this provider alone, without its name; `root` is its address."""
        return {}

    def canonical(self, path: str) -> str:
        """The one spelling of a path that can be written in several ways."""
        return path

    def concurrency_key(self, grant: Grant, path: str) -> str:
        """Requests with the same key count together for `most_at_once`."""
        return grant.account

    def _oauth_endpoints(self) -> list[Endpoint]:
        oauth, vendor = self.oauth, self.vendor

        def revoke(call: Call) -> Response:
            given = call.form.get("token") or call.query.get("token") or call.path.get("token")
            if given is None and isinstance(call.json, dict):
                given = call.json.get("token")
            return oauth.revoke(str(given or ""), call.form, call.authorization)

        def token(call: Call) -> Response:
            return oauth.token(call.form, call.authorization)

        revocation = (
            []
            if vendor.revoke_path is None
            else [Endpoint("POST", vendor.revoke_path, "revoke", revoke, "revoke", public=True)]
        )
        return [
            Endpoint(
                "GET",
                vendor.authorize_path,
                "authorize",
                lambda call: oauth.authorize(call.query),
                "authorize",
                public=True,
            ),
            Endpoint(
                "POST",
                vendor.authorize_path,
                "decide",
                lambda call: oauth.decide(call.form),
                "authorize",
                public=True,
            ),
            Endpoint("POST", vendor.token_path, "token", token, "token", public=True),
            *revocation,
        ]

    def userinfo_endpoint(self, path: str) -> Endpoint:
        def userinfo(call: Call) -> Response:
            assert call.grant is not None, "the endpoint is not public"
            return JSONResponse(identity.userinfo(call.grant))

        scopes = frozenset({"openid", "email", "https://www.googleapis.com/auth/userinfo.email"})
        return Endpoint("GET", path, "userinfo", userinfo, "identity", scopes)
