"""Graph's error bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeAlias
from uuid import uuid4

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call
from penstock.simulators.providers.faults import ProviderFault
from penstock.simulators.providers.oauth.grants import Refusal


class GraphRefused(Exception):
    """A handler rejects the request with this response."""

    def __init__(self, response: Response) -> None:
        super().__init__(bytes(response.body).decode())
        self.response = response


Handler: TypeAlias = Callable[[Call], Response]


def answered(handler: Handler) -> Handler:
    """The handler, with a refusal as its response."""

    def answer(call: Call) -> Response:
        try:
            return handler(call)
        except GraphRefused as refused:
            return refused.response

    return answer


def error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    request = str(uuid4())
    inner = {
        "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}",
        "request-id": request,
        "client-request-id": request,
    }
    body = {"error": {"code": code, "message": message, "innerError": inner}}
    return JSONResponse(body, status, headers={"request-id": request, **(headers or {})})


def refuse(status: int, code: str, message: str) -> GraphRefused:
    return GraphRefused(error(status, code, message))


def item_not_found() -> GraphRefused:
    return refuse(404, "ErrorItemNotFound", "The specified object was not found in the store.")


def unauthorized(refusal: Refusal) -> Response:
    said = {
        "missing": "Access token is empty.",
        "unknown": "CompactToken parsing failed with error code: 80049217",
        "expired": "Lifetime validation failed, the token is expired.",
        "revoked": "Continuous access evaluation resulted in challenge with result: InteractionRequired",
    }
    challenge = (
        'Bearer realm="", authorization_uri="https://login.microsoftonline.com/common/oauth2/authorize"'
    )
    return error(401, "InvalidAuthenticationToken", said[refusal], {"www-authenticate": challenge})


def missing_scopes(scopes: Sequence[str]) -> Response:
    return error(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")


def rate_limited(fault: ProviderFault) -> Response:
    """429; with the policy MailboxConcurrency it names that limit."""
    headers = {} if fault.retry_after is None else {"retry-after": fault.retry_after}
    if fault.policy == "MailboxConcurrency":
        said = "Application is over its MailboxConcurrency limit."
    else:
        said = "Application is over its request limit: 10000 requests in 10 minutes."
    return error(429, "ApplicationThrottled", said, headers)


def server_error(status: int, message: str) -> Response:
    code = {500: "generalException", 503: "serviceNotAvailable", 504: "gatewayTimeout"}
    return error(status, code.get(status, "UnknownError"), message)


def sync_state_lost(status: int, restart: str) -> Response:
    """410 with the address to start again from, or another status without it."""
    said = "The sync state generation is not found; generation=149;[highest=157][157][155][156]."
    if status == 410:
        return error(410, "SyncStateNotFound", said, {"location": restart})
    return error(status, "syncStateNotFound", said)
