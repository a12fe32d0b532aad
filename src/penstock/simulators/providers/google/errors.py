"""Google's error bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.faults import ProviderFault
from penstock.simulators.providers.oauth.grants import Refusal

_STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class GoogleRefused(Exception):
    """A handler rejects the request with this response."""

    def __init__(self, response: Response) -> None:
        super().__init__(bytes(response.body).decode())
        self.response = response


def error(
    status: int,
    message: str,
    reason: str,
    *,
    domain: str = "global",
    location: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    detail: dict[str, Any] = {"message": message, "domain": domain, "reason": reason}
    if location is not None:
        kind = "header" if location == "Authorization" else "parameter"
        detail |= {"location": location, "locationType": kind}
    body = {"code": status, "message": message, "errors": [detail]}
    if status in _STATUSES:
        body["status"] = _STATUSES[status]
    return JSONResponse({"error": body}, status, headers=headers)


def unauthorized(refusal: Refusal) -> Response:
    said = (
        "Request is missing required authentication credential."
        if refusal == "missing"
        else "Request had invalid authentication credentials. Expected OAuth 2 access token."
    )
    challenge = {"www-authenticate": 'Bearer realm="https://accounts.google.com/", error="invalid_token"'}
    return error(401, said, "authError", location="Authorization", headers=challenge)


def missing_scopes(scopes: Sequence[str]) -> Response:
    said = "Request had insufficient authentication scopes."
    body = {
        "code": 403,
        "message": said,
        "errors": [
            {"message": "Insufficient Permission", "domain": "global", "reason": "insufficientPermissions"}
        ],
        "status": "PERMISSION_DENIED",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
                "domain": "googleapis.com",
            }
        ],
    }
    challenge = f'Bearer error="insufficient_scope", scope="{" ".join(scopes)}"'
    return JSONResponse({"error": body}, 403, headers={"www-authenticate": challenge})


def rate_limited(fault: ProviderFault) -> Response:
    """429 rateLimitExceeded, or 403 with the policy userRateLimitExceeded."""
    user = fault.policy == "userRateLimitExceeded"
    headers = {} if fault.retry_after is None else {"retry-after": fault.retry_after}
    return error(
        403 if user else 429,
        "User Rate Limit Exceeded" if user else "Quota exceeded for quota metric 'Queries'.",
        "userRateLimitExceeded" if user else "rateLimitExceeded",
        domain="usageLimits",
        headers=headers,
    )


def server_error(status: int, message: str) -> Response:
    return error(status, message, "backendError")


def bad_page_token() -> Response:
    return error(400, "Invalid Value", "invalid", location="pageToken")
