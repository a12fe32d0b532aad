"""The MCP server as an ASGI app: every request carries the tenant's key and stands alone."""

from __future__ import annotations

import json
from collections.abc import Callable

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.accounts import Caller
from penstock.errors import KeyRefused, PenstockError, TenantClosed
from penstock.mcp.server import create_server
from penstock.product import Product

LONGEST_KEY = 256
LARGEST_BODY = 1_048_576


def http_app(product: Product, *, admit: Callable[[Request, Caller], None] | None = None) -> ASGIApp:
    """An app to mount at /mcp; `admit` may refuse a caller by raising, as a rate limit does."""
    server = create_server(product, lambda ctx: ctx.request_context.request.state.caller)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method != "POST":
            # Without sessions there is nothing to listen to and nothing to end.
            await _refuse(405, "method_not_allowed", "Only POST is served", "POST a JSON-RPC message", allow="POST")(
                scope, receive, send
            )
            return
        try:
            caller = await product.accounts.authenticate(_key(request))
        except (KeyRefused, TenantClosed) as error:
            await _refuse(401, "unauthorized", error.message, error.remedy)(scope, receive, send)
            return
        if admit is not None:
            admit(request, caller)
        request.state.caller = caller
        # One manager a request: nothing has to be started with the API, and nothing outlives the answer.
        manager = StreamableHTTPSessionManager(
            server._lowlevel_server, json_response=True, stateless=True, max_request_body_size=LARGEST_BODY
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    return app


def _key(request: Request) -> str:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    found = secret.strip() if kind.lower() == "bearer" else request.headers.get("x-api-key", "").strip()
    if not found:
        raise KeyRefused("the request has no API key", "Authorization", "Send it as Authorization: Bearer pk_…")
    if len(found) > LONGEST_KEY or not found.isascii():
        raise KeyRefused("there is no such key", "Authorization")
    return found


def _refuse(status: int, code: str, message: str, remedy: str, **headers: str) -> Response:
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    problem = {"type": f"/docs#problem-{code}", "title": message, "status": status, "detail": message, "remedy": remedy}
    return Response(json.dumps(problem), status, headers, media_type="application/problem+json")
