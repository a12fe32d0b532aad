"""What a planned fault does to a request: a response in the vendor's shape, a delay, or nothing yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response

from penstock.simulators.faults import CutOff
from penstock.simulators.providers import wire
from penstock.simulators.providers.faults import ProviderFault
from penstock.simulators.providers.mcp_auth import mcp_forbidden, mcp_unauthorized
from penstock.simulators.providers.provider import SimulatedProvider

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive


async def failure(
    provider: SimulatedProvider, fault: ProviderFault, request: Request, surface: str, receive: Receive
) -> Response | None:
    """The response of a fault; none if the request goes on, perhaps later or to a spoiled result."""
    mcp = surface in ("mcp", "sandbox")
    match fault.kind:
        case "unauthorized":
            return mcp_unauthorized(request, "expired") if mcp else provider.unauthorized("expired")
        case "missing_scopes":
            return mcp_forbidden([fault.message]) if mcp else provider.missing_scopes([fault.message])
        case "rate_limited":
            return provider.rate_limited(fault)
        case "server_error":
            broken = provider.server_error(fault.status, fault.message)
            if fault.retry_after is not None:
                broken.headers["retry-after"] = fault.retry_after
            return broken
        case "oauth_error":
            return provider.oauth.refusal(fault.status, fault.message, "The simulator was told to refuse.")
        case "not_json":
            return Response("<html>Bad gateway</html>", media_type="text/html")
        case "disconnect":
            return CutOff()
        case "slow":
            await asyncio.sleep(fault.seconds)
            return None
        case "hang":
            await wire.until_gone(receive, fault.seconds)
            return Response(status_code=504)
        case "expire_tokens":
            provider.oauth.grants.expire_access_tokens()
            return None
        case "revoke_grants":
            provider.oauth.grants.revoke_all()
            return None
        case "drift" if fault.action is not None:
            fault.action()
            return None
        case "expired_page_token" if not mcp:
            return provider.expired_page_token()
        case _:
            return None
