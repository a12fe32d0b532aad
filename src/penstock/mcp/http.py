"""The MCP server as an ASGI app: every request carries the tenant's key and stands alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response

from penstock.accounts import Caller
from penstock.errors import KeyRefused, TenantClosed
from penstock.mcp.server import create_server
from penstock.net.bearer import api_key
from penstock.product.services import Services

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context
    from starlette.types import ASGIApp, Receive, Scope, Send

LARGEST_BODY = 1_048_576

Admit: TypeAlias = Callable[[Request, Caller], None]


def http_app(product: Services, *, admit: Admit | None = None) -> ASGIApp:
    """An app for the path /mcp; `admit` may refuse a caller by raising, as a rate limit does."""
    return _McpOverHttp(product, admit)


class _McpOverHttp:
    def __init__(self, product: Services, admit: Admit | None) -> None:
        self._product = product
        self._admit = admit
        self._server = create_server(product, _caller)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method != "POST":
            # Without sessions there is nothing to listen to and nothing to end.
            refusal = _refusal(405, "method-not-allowed", "Only POST is served", "POST a JSON-RPC message")
            refusal.headers["Allow"] = "POST"
            await refusal(scope, receive, send)
            return
        try:
            caller = await self._product.accounts.authenticate(api_key(request.headers))
        except (KeyRefused, TenantClosed) as error:
            refusal = _refusal(401, "unauthorized", error.message, error.remedy)
            refusal.headers["WWW-Authenticate"] = "Bearer"
            await refusal(scope, receive, send)
            return
        if self._admit is not None:
            self._admit(request, caller)
        request.state.caller = caller
        # One manager a request: nothing has to be started with the API, and nothing outlives the answer.
        self._server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=LARGEST_BODY,
            # Browsers led astray by a rebound name have no key to send.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        manager = self._server.session_manager
        async with manager.run():
            await manager.handle_request(scope, receive, send)


async def _caller(ctx: Context[Any, Any]) -> Caller:
    request = ctx.request_context.request
    assert isinstance(request, Request), "over HTTP every call comes with its request"
    caller: Caller = request.state.caller
    return caller


def _refusal(status: int, kind: str, message: str, remedy: str) -> Response:
    problem = {
        "type": f"/docs#problem-{kind}",
        "title": message,
        "status": status,
        "detail": message,
        "remedy": remedy,
    }
    return Response(json.dumps(problem), status, media_type="application/problem+json")
