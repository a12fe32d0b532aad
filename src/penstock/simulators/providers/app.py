"""The one ASGI app of the simulated providers: a prefix per provider, a ledger and faults before all."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from penstock.simulators.providers import wire
from penstock.simulators.providers.endpoints import Call, Endpoint, find
from penstock.simulators.providers.failing import failure
from penstock.simulators.providers.faults import DATA, FaultPlan, ProviderFault
from penstock.simulators.providers.ledger import Entry, Ledger
from penstock.simulators.providers.mcp_auth import (
    METADATA,
    mcp_forbidden,
    mcp_unauthorized,
    resource_metadata,
)
from penstock.simulators.providers.oauth.grants import AccessToken, Refusal
from penstock.simulators.providers.provider import SimulatedProvider

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from penstock.simulators.providers.mcp_server import McpServer


@dataclass(slots=True)
class Visit:
    """One request on its way through the app."""

    provider: SimulatedProvider
    path: str
    request: Request
    body: bytes
    surface: str
    operation: str
    found: tuple[Endpoint, dict[str, str]] | None
    token: AccessToken | Refusal
    entry: Entry
    fault: ProviderFault | None


class ProvidersApp:
    """Requests go through faults and authentication to an endpoint or an MCP server."""

    def __init__(
        self,
        providers: Mapping[str, SimulatedProvider],
        faults: FaultPlan,
        ledger: Ledger,
        control: Callable[[Request, bytes], Awaitable[Response]],
        drift: Callable[[Sequence[Mapping[str, Any]]], object],
    ) -> None:
        self._providers = providers
        self._faults = faults
        self._ledger = ledger
        self._control = control
        self._drift = drift
        self.mcp: dict[tuple[str, str], McpServer] = {}
        self._in_progress: Counter[tuple[str, str]] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        request = Request(scope, receive)
        body = await wire.read(receive)
        if body is None:
            await Response(status_code=413)(scope, receive, send)
            return
        receive = wire.replayed(body, receive)
        path = scope["path"]
        if path.startswith("/_control"):
            await (await self._control(request, body))(scope, receive, send)
            return
        if path.startswith(METADATA):
            await resource_metadata(self._providers, request)(scope, receive, send)
            return
        name, _, rest = path.removeprefix("/").partition("/")
        provider = self._providers.get(name)
        if provider is None:
            known = ", ".join(f"/{each}" for each in self._providers)
            wrong = f"Nothing is simulated at {path}. The providers are at {known}; see also /_control.\n"
            await PlainTextResponse(wrong, 404)(scope, receive, send)
            return
        await self._serve(provider, f"/{rest}", request, body, receive, send)

    async def _serve(
        self,
        provider: SimulatedProvider,
        path: str,
        request: Request,
        body: bytes,
        receive: Receive,
        send: Send,
    ) -> None:
        visit = self._visit(provider, path, request, body)
        send = wire.watched(visit.entry, send)
        with self._counted(visit) as crowded:
            answer = crowded or await self._fault(visit, receive)
            if visit.fault is not None and visit.fault.kind == "lost_response":
                send = wire.lost(send)
            if answer is None and visit.surface in ("mcp", "sandbox"):
                await self._serve_mcp(visit, receive, send)
                return
            answer = answer or await self._answer(visit)
            await answer(request.scope, receive, send)

    async def _within(self, provider: SimulatedProvider, request: Request, body: bytes) -> Response:
        """The response to a request that came inside another one."""
        path = request.scope["path"].removeprefix(f"/{provider.name}")
        visit = self._visit(provider, path, request, body)
        with self._counted(visit) as crowded:
            answer = crowded or await self._fault(visit, _nothing_more) or await self._answer(visit)
        visit.entry.status = answer.status_code
        return answer

    def _visit(self, provider: SimulatedProvider, path: str, request: Request, body: bytes) -> Visit:
        """What the request is, noted in the ledger."""
        path = provider.canonical(path)
        found = find(provider.endpoints, request.method, path)
        servers: dict[str | None, Literal["mcp", "sandbox"]] = {
            provider.mcp_path: "mcp",
            provider.sandbox_path: "sandbox",
        }
        surface = servers.get(path) or (found[0].surface if found else "rest")
        if path in servers:
            operation, arguments = wire.rpc(request, body)
        else:
            operation = found[0].operation if found else "unknown"
            arguments = wire.arguments(request, body) | (found[1] if found else {})
        token = provider.oauth.grants.check(request.headers.get("authorization"))
        entry = self._ledger.record(
            provider.world.clock.now(),
            provider.name,
            surface,
            operation,
            method=request.method,
            path=path,
            arguments=arguments,
            grant=token.grant.id if isinstance(token, AccessToken) else None,
            session=request.headers.get("mcp-session-id"),
        )
        fault = self._faults.take(provider.name, surface, operation, arguments)
        return Visit(provider, path, request, body, surface, operation, found, token, entry, fault)

    @contextmanager
    def _counted(self, visit: Visit) -> Iterator[Response | None]:
        """Counts the request among those in progress; yields a refusal if there are too many."""
        provider, most = visit.provider, visit.provider.most_at_once
        is_single = visit.surface in DATA and visit.operation != "batch"
        if most is None or not is_single or not isinstance(visit.token, AccessToken):
            yield None
            return
        key = (provider.name, provider.concurrency_key(visit.token.grant, visit.path))
        self._in_progress[key] += 1
        try:
            if self._in_progress[key] > most:
                visit.entry.fault = visit.entry.fault or "rate_limit"
                busy = ProviderFault("rate_limited", retry_after="1", policy="MailboxConcurrency")
                yield provider.rate_limited(busy)
            else:
                yield None
        finally:
            self._in_progress[key] -= 1

    async def _fault(self, visit: Visit, receive: Receive) -> Response | None:
        """What the planned fault or the limit of requests answers; none if the request goes on."""
        provider, fault = visit.provider, visit.fault
        if fault is not None:
            visit.entry.fault = fault.kind
            answer = await self._failure(provider, fault, visit.request, visit.surface, receive)
            if answer is not None:
                return answer
            visit.request.scope["penstock.fault"] = fault
            # It may be dead now.
            visit.token = provider.oauth.grants.check(visit.request.headers.get("authorization"))
        wait = 0.0 if visit.surface not in DATA else provider.limiter.wait(provider.world.clock.now())
        if wait <= 0:
            return None
        visit.entry.fault = visit.entry.fault or "rate_limit"
        return provider.rate_limited(ProviderFault("rate_limited", retry_after=str(math.ceil(wait))))

    async def _answer(self, visit: Visit) -> Response:
        """What the endpoint says."""
        provider, token = visit.provider, visit.token
        if visit.found is None:
            return provider.not_found(visit.path)
        endpoint, values = visit.found
        call = Call(visit.request, visit.body, values)
        if not endpoint.public:
            if not isinstance(token, AccessToken):
                return provider.unauthorized(token)
            if endpoint.scopes and not endpoint.scopes & token.grant.scopes:
                return provider.missing_scopes(sorted(endpoint.scopes))
            call = Call(visit.request, visit.body, values, token.grant)
        visit.request.scope["penstock.inner"] = partial(self._within, provider)
        made = endpoint.handle(call)
        response = made if isinstance(made, Response) else await made
        if visit.fault is not None and visit.fault.kind == "huge" and isinstance(response, JSONResponse):
            return JSONResponse(json.loads(bytes(response.body)) | {"padding": "x" * visit.fault.size})
        return response

    async def _serve_mcp(self, visit: Visit, receive: Receive, send: Send) -> None:
        request, token = visit.request, visit.token
        server = self.mcp[visit.provider.name, visit.surface]
        if not isinstance(token, AccessToken):
            await mcp_unauthorized(request, token)(request.scope, receive, send)
            return
        tool = server.tools.get(visit.operation)
        if tool is not None and tool.scopes and not tool.scopes & token.grant.scopes:
            await mcp_forbidden(sorted(tool.scopes))(request.scope, receive, send)
            return
        await server.handle(request.scope, receive, send, visit.operation)

    async def _failure(
        self,
        provider: SimulatedProvider,
        fault: ProviderFault,
        request: Request,
        surface: str,
        receive: Receive,
    ) -> Response | None:
        if fault.kind == "drop_session":
            self.mcp[provider.name, surface].drop_sessions()
        if fault.kind == "drift":
            self._drift(fault.changes)
        return await failure(provider, fault, request, surface, receive)

    async def _live(self, receive: Receive, send: Send) -> None:
        from penstock.simulators.providers.mcp_server import McpServer, end_watcher

        await receive()
        async with AsyncExitStack() as running:
            for name, provider in self._providers.items():
                if provider.emitter is not None:
                    provider.emitter.ledger = self._ledger
                    await running.enter_async_context(provider.emitter.running())
                if provider.mcp_path is None:
                    continue
                both = (("mcp", provider.tools()), ("sandbox", provider.sandbox_tools()))
                for surface, tools in both:
                    server = McpServer(provider, surface, tools, self._faults)
                    await running.enter_async_context(server.running())
                    self.mcp[name, surface] = server
            await send({"type": "lifespan.startup.complete"})
            await receive()
        end_watcher()
        await send({"type": "lifespan.shutdown.complete"})


async def _nothing_more() -> Message:
    """Receives nothing: a request inside another one has no connection of its own."""
    await asyncio.Event().wait()
    raise AssertionError("nothing sets the event")
