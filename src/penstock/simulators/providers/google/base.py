"""What Drive and Gmail share: Google's errors and the user's identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.simulators.providers.endpoints import Endpoint
from penstock.simulators.providers.google import errors
from penstock.simulators.providers.oauth.grants import Refusal
from penstock.simulators.providers.provider import SimulatedProvider

if TYPE_CHECKING:
    from starlette.responses import Response

    from penstock.simulators.providers.faults import ProviderFault


class Google(SimulatedProvider):
    """A Google account."""

    mcp_path = "/mcp/v1"
    identity_path = "/v1/userinfo"

    def identity(self) -> list[Endpoint]:
        return [self.userinfo_endpoint("/v1/userinfo"), self.userinfo_endpoint("/oauth2/v3/userinfo")]

    def unauthorized(self, refusal: Refusal) -> Response:
        return errors.unauthorized(refusal)

    def missing_scopes(self, scopes: Sequence[str]) -> Response:
        return errors.missing_scopes(scopes)

    def rate_limited(self, fault: ProviderFault) -> Response:
        return errors.rate_limited(fault)

    def server_error(self, status: int, message: str) -> Response:
        return errors.server_error(status, message)

    def expired_page_token(self) -> Response:
        return errors.bad_page_token()

    def not_found(self, path: str) -> Response:
        return errors.error(404, f"The requested URL {path} was not found on this server.", "notFound")
