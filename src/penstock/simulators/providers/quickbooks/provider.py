"""QuickBooks Online: OAuth, customers and invoices over REST and MCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.simulators.providers.endpoints import Endpoint
from penstock.simulators.providers.oauth.grants import Refusal
from penstock.simulators.providers.oauth.vendors import QUICKBOOKS
from penstock.simulators.providers.provider import SimulatedProvider
from penstock.simulators.providers.quickbooks import errors, rest
from penstock.simulators.providers.quickbooks.tools import QuickBooksTools
from penstock.simulators.providers.tools import Tool

if TYPE_CHECKING:
    from starlette.responses import Response

    from penstock.simulators.providers.faults import ProviderFault


class QuickBooks(SimulatedProvider):
    """A company's books."""

    vendor = QUICKBOOKS
    mcp_path = "/v1/mcp"

    def rest(self) -> Sequence[Endpoint]:
        return [self.userinfo_endpoint("/v1/openid_connect/userinfo"), *rest.endpoints(self)]

    def tools(self) -> Sequence[Tool]:
        return QuickBooksTools(self).vendor()

    def sandbox_tools(self) -> Sequence[Tool]:
        return QuickBooksTools(self).sandbox()

    def unauthorized(self, refusal: Refusal) -> Response:
        return errors.unauthorized(refusal)

    def missing_scopes(self, scopes: Sequence[str]) -> Response:
        return errors.forbidden()

    def rate_limited(self, fault: ProviderFault) -> Response:
        return errors.rate_limited(fault)

    def server_error(self, status: int, message: str) -> Response:
        return errors.gateway(status, "InternalServerError", "100001", "SERVICE", message)

    def expired_page_token(self) -> Response:
        now = self.world.clock.now()
        return errors.fault(now, "Invalid query", "QueryValidationError: startposition", "4001")

    def not_found(self, path: str) -> Response:
        return errors.gateway(404, "ResourceNotFound", "000404", "SERVICE", path)
