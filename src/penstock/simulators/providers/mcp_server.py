"""A simulated MCP server over streamable HTTP, in both eras of the protocol, made with the official SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.responses import JSONResponse

from penstock.simulators.providers.faults import FaultPlan, ProviderFault
from penstock.simulators.providers.tools import Tool, ToolAnswer, ToolFailed, failed, spoiled, wrong_argument

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import Receive, Scope, Send

    from penstock.simulators.providers.provider import SimulatedProvider

FAULT = "penstock.fault"
"""The key in the ASGI scope under which a request carries its fault."""


class McpServer:
    """The tools of a provider at one path."""

    def __init__(
        self, provider: SimulatedProvider, surface: str, tools: Sequence[Tool], faults: FaultPlan
    ) -> None:
        self.provider = provider
        self.surface = surface
        self.tools = {tool.name: tool for tool in tools}
        self._faults = faults
        self._server: Server[Any] = Server(
            f"simulated-{provider.name}",
            version="1.0.0",
            on_list_tools=self._list,
            on_call_tool=self._call,
            get_tool_input_schema=lambda name: None,
        )
        self._server.middleware.clear()  # no tracing
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._sessions = StreamableHTTPSessionManager(self._server, security_settings=security)
        self._bare = StreamableHTTPSessionManager(
            self._server, security_settings=security, stateless=True, json_response=True
        )
        self._dropped: set[str] = set()
        self._known: set[str] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run(), self._bare.run():
            yield

    def drop_sessions(self) -> int:
        """Forget every open session, as a redeployed server does; how many there were."""
        dropped = len(self._known)
        self._dropped |= self._known
        self._known.clear()
        return dropped

    async def handle(self, scope: Scope, receive: Receive, send: Send, method: str) -> None:
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        session = headers.get("mcp-session-id")
        if session in self._dropped:
            refusal = JSONResponse(_rpc_error(-32600, "Session not found"), 404)
            await refusal(scope, receive, send)
            return
        if self.provider.eras == "legacy" and headers.get("mcp-protocol-version", "") >= "2026":
            refusal = JSONResponse(_rpc_error(-32600, "Bad Request: Unsupported protocol version"), 400)
            await refusal(scope, receive, send)
            return
        if session is not None:
            self._known.add(session)
        # A call without a handshake is answered too: Google's own samples do that.
        bare = scope["method"] == "POST" and session is None and method != "initialize"
        manager = self._bare if bare and headers.get("mcp-protocol-version", "") < "2026" else self._sessions
        self._sessions.json_response = self.provider.json_responses
        await manager.handle_request(scope, receive, send)

    async def _list(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        missing = list(self._faults.of_lists(self.provider.name, self.surface))
        gone = {fault.tool for fault in missing if fault.kind == "missing_tool"}
        shown = []
        for tool in self.tools.values():
            if tool.name in gone:
                continue
            without = frozenset(
                fault.argument
                for fault in missing
                if fault.kind == "missing_argument" and fault.argument and fault.tool in (None, tool.name)
            )
            shown.append(
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.schema(without),
                    output_schema=dict(tool.output) if tool.output else None,
                )
            )
        return types.ListToolsResult(tools=shown)

    async def _call(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        fault: ProviderFault | None = ctx.request.scope.get(FAULT) if ctx.request is not None else None
        if fault is not None and fault.kind == "rpc_error":
            raise MCPError(-32000, fault.message, {"status": fault.status, "retry_after": fault.retry_after})
        result = self._run(params.name, params.arguments or {}, fault)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in result.texts],
            structured_content=result.structured,
            is_error=result.is_error,
        )

    def _run(self, name: str, arguments: dict[str, Any], fault: ProviderFault | None) -> ToolAnswer:
        missing = self._faults.of_lists(self.provider.name, self.surface)
        tool = self.tools.get(name)
        if tool is None or any(each.kind == "missing_tool" and each.tool == name for each in missing):
            return failed(f"Unknown tool: {name}")
        if (wrong := wrong_argument(tool, arguments)) is not None:
            return failed(wrong)
        if fault is not None and fault.kind == "expired_page_token":
            refused = self.provider.expired_page_token()
            assert refused is not None, "only a provider without MCP leaves it to its endpoints"
            body = json.loads(bytes(refused.body))
            return tool.refused(json.dumps(body))
        try:
            result = tool.run(arguments)
        except ToolFailed as refused:
            result = tool.refused(str(refused))
        return result if fault is None else spoiled(result, fault, tool)


def _rpc_error(code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}


def end_watcher() -> None:
    """End the task that sse-starlette starts once per loop and leaves running."""
    for task in asyncio.all_tasks():
        if getattr(task.get_coro(), "__qualname__", None) == "_shutdown_watcher":
            task.cancel()
