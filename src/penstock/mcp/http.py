"""The MCP server as an ASGI app: every request carries the tenant's key and is independent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from penstock.accounts import Caller
from penstock.engine.services import Services
from penstock.errors import KeyRefused, TenantClosed
from penstock.net.bearer import api_key

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context, MCPServer
    from starlette.types import ASGIApp, Receive, Scope, Send

LARGEST_BODY = 1_048_576

Admit: TypeAlias = Callable[[Request, Caller], None]


def http_app(engine: Services, *, admit: Admit | None = None) -> ASGIApp:
    """An app for the path /mcp; `admit` may reject a caller by raising, as a rate limit does."""
    return _McpOverHttp(engine, admit)


class _McpOverHttp:
    def __init__(self, engine: Services, admit: Admit | None) -> None:
        self._product = engine
        self._admit = admit
        self._server: MCPServer[Any] | None = None
        self._starting = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method != "POST":
            # Without sessions there is nothing to subscribe to and nothing to end.
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
        server = await self._started()
        # One manager per request: nothing has to be started with the API, and nothing outlives the response.
        _prepare(server)
        manager = server.session_manager
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def _started(self) -> MCPServer[Any]:
        """The server, made for the first request: its library takes a second to import."""
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.to_thread(_make, self._product)
            return self._server


def _make(engine: Services) -> MCPServer[Any]:
    from penstock.mcp.server import create_server

    return create_server(engine, _caller)


def _prepare(server: MCPServer[Any]) -> None:
    from mcp.server.transport_security import TransportSecuritySettings

    server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_BODY,
        # A browser fooled by DNS rebinding has no key to send.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


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
