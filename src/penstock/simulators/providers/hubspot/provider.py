"""HubSpot: OAuth, CRM over REST and MCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.simulators.providers.endpoints import Endpoint
from penstock.simulators.providers.hubspot import errors, rest
from penstock.simulators.providers.hubspot.search import Searcher
from penstock.simulators.providers.hubspot.tools import HubSpotTools
from penstock.simulators.providers.oauth import identity
from penstock.simulators.providers.oauth.grants import Refusal
from penstock.simulators.providers.oauth.vendors import HUBSPOT
from penstock.simulators.providers.provider import SimulatedProvider
from penstock.simulators.providers.tools import Tool

if TYPE_CHECKING:
    from starlette.responses import Response

    from penstock.simulators.providers.faults import ProviderFault
    from penstock.simulators.providers.world.world import World


class HubSpot(SimulatedProvider):
    """A HubSpot account with contacts, companies and deals."""

    vendor = HUBSPOT
    identity_path = "/oauth/2026-03/token/introspect"

    def __init__(self, world: World) -> None:
        self.searcher = Searcher()
        super().__init__(world)

    def rest(self) -> Sequence[Endpoint]:
        oauth = self.oauth
        return [
            Endpoint(
                "POST",
                "/oauth/v1/token",
                "token",
                lambda call: oauth.token(call.form, None),
                "token",
                public=True,
            ),
            Endpoint(
                "POST",
                "/oauth/2026-03/token/introspect",
                "introspect",
                lambda call: identity.introspect(oauth, call.form),
                "identity",
                public=True,
            ),
            Endpoint(
                "GET",
                "/oauth/v1/access-tokens/{token}",
                "token_info",
                lambda call: identity.token_info(oauth, call.path["token"]),
                "identity",
                public=True,
            ),
            Endpoint(
                "DELETE",
                "/oauth/v1/refresh-tokens/{token}",
                "revoke",
                lambda call: oauth.forget(call.path["token"]),
                "revoke",
                public=True,
            ),
            *rest.endpoints(self),
        ]

    def tools(self) -> Sequence[Tool]:
        return HubSpotTools(self).vendor()

    def sandbox_tools(self) -> Sequence[Tool]:
        return HubSpotTools(self).sandbox()

    def unauthorized(self, refusal: Refusal) -> Response:
        return errors.unauthorized(refusal)

    def missing_scopes(self, scopes: Sequence[str]) -> Response:
        return errors.missing_scopes(scopes)

    def rate_limited(self, fault: ProviderFault) -> Response:
        return errors.rate_limited(fault)

    def server_error(self, status: int, message: str) -> Response:
        return errors.error(status, message)

    def expired_page_token(self) -> Response:
        return errors.error(400, "Invalid paging cursor", "VALIDATION_ERROR")

    def not_found(self, path: str) -> Response:
        return errors.error(404, f"No resource at {path}")
