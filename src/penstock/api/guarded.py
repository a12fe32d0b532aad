"""The route classes of all calls with a key or session: identity, limits and idempotency are checked
before the handler, what changes something is audited, and what only reads has a time limit."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, MutableMapping
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute

from penstock.accounts import Caller
from penstock.api import idempotency
from penstock.api.auditing import Audited
from penstock.api.bodies import JSON_BYTES, read_whole, refuse_other_than_json, refuse_unacceptable
from penstock.api.identity import Needs, identify
from penstock.api.reading import limit_of
from penstock.api.shown_once import secret_fields
from penstock.errors import InvalidArgument

_CHANGES: Final = frozenset({"POST", "PUT"})

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class GuardedRoute(APIRoute):
    """No request is parsed, and no stored response returned, before its key and scope are checked."""

    def get_route_handler(self) -> Handler:
        handler = super().get_route_handler()
        takes_json = self.body_field is not None
        needs = _needs(self)
        secrets = secret_fields(self.response_model)

        async def guarded(request: Request) -> Response:
            refuse_nul(request)
            caller = await identify(request)
            async with Audited(request, caller, self, needs) as audited:
                for scope in needs:
                    await scope(request)
                with limit_of(self, request.method):
                    response = await carry_out(request, caller)
                audited.ended(response.status_code)
            return response

        async def carry_out(request: Request, caller: Caller) -> Response:
            refuse_unacceptable(request)
            body = b""
            if request.method in ("POST", "PUT", "PATCH"):
                body = await read_whole(request, JSON_BYTES, what="body")
                request = _with_body(request, body)
                if takes_json and body:
                    refuse_other_than_json(request)
            key = idempotency.key_of(request) if request.method in _CHANGES else None
            if key is None:
                return await handler(request)
            return await idempotency.once(request, caller, key, body, handler, secrets)

        return guarded


class StreamedRoute(APIRoute):
    """The same for streamed bodies or responses: the handler reads the body itself."""

    def get_route_handler(self) -> Handler:
        handler = super().get_route_handler()
        needs = _needs(self)

        async def guarded(request: Request) -> Response:
            refuse_nul(request)
            caller = await identify(request)
            async with Audited(request, caller, self, needs) as audited:
                for scope in needs:
                    await scope(request)
                with limit_of(self, request.method):
                    response = await handler(request)
                audited.ended(response.status_code)
            return response

        return guarded


def _needs(route: APIRoute) -> list[Needs]:
    """The scopes a route needs; they are checked before a stored response is returned."""
    return [needed.call for needed in route.dependant.dependencies if isinstance(needed.call, Needs)]


def refuse_nul(request: Request) -> None:
    """Reject NUL in a path or query here; otherwise Postgres would, as an internal error."""
    if "\0" in request.scope["path"]:
        raise InvalidArgument("the path contains a NUL character", "path", "Remove it")
    if b"%00" in request.scope["query_string"] or b"\0" in request.scope["query_string"]:
        raise InvalidArgument("the query contains a NUL character", "query", "Remove it")


def _with_body(request: Request, body: bytes) -> Request:
    """The request again, with a body that has already been read."""

    given = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await request.receive()  # after the body: wait for the client to disconnect
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)
