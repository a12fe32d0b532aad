"""Intuit's faults: of the API with capitals, of the gateway in front of it without."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.faults import ProviderFault
from penstock.simulators.providers.oauth.grants import Refusal
from penstock.simulators.providers.world.books import pacific


def answer(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A response with Intuit's id of the request."""
    tid = f"1-{uuid4().hex[:8]}-{uuid4().hex[:24]}"
    return JSONResponse(body, status, headers={"intuit_tid": tid, **(headers or {})})


def fault(now: datetime, message: str, detail: str, code: str, kind: str = "ValidationFault") -> Response:
    error = {"Message": message, "Detail": detail, "code": code, "element": ""}
    return answer({"Fault": {"Error": [error], "type": kind}, "time": pacific(now)}, 400)


def gateway(
    status: int, name: str, code: str, kind: str, detail: str = "", headers: dict[str, str] | None = None
) -> Response:
    message = f"message={name}; errorCode={code}; statusCode={status}"
    error = {"message": message, "detail": detail, "code": code.lstrip("0"), "element": None}
    return answer({"fault": {"error": [error], "type": kind}}, status, headers)


def unauthorized(refusal: Refusal) -> Response:
    detail = "Token expired" if refusal == "expired" else "Token revoked or unknown"
    return gateway(401, "AuthenticationFailed", "003200", "AUTHENTICATION", detail)


def forbidden() -> Response:
    return gateway(403, "ApplicationAuthorizationFailed", "003100", "SERVICE")


def rate_limited(planned: ProviderFault) -> Response:
    headers = {} if planned.retry_after is None else {"retry-after": planned.retry_after}
    return gateway(429, "ThrottleExceeded", "003001", "SERVICE", headers=headers)
