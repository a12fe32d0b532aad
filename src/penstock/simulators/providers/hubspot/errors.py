"""HubSpot's error bodies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.faults import ProviderFault
from penstock.simulators.providers.oauth.grants import Refusal
from penstock.simulators.providers.world.clock import iso_ms

LIMITS: Final = {
    "x-hubspot-ratelimit-max": "110",
    "x-hubspot-ratelimit-remaining": "109",
    "x-hubspot-ratelimit-interval-milliseconds": "10000",
}
_LIMITS_BY_POLICY: Final = {
    "DAILY": "You have reached your daily limit.",
    "SECONDLY": "You have reached your secondly limit.",
}


def error(status: int, message: str, category: str | None = None, **more: Any) -> Response:
    body = {"status": "error", "message": message, "correlationId": str(uuid4()), **more}
    if category is not None:
        body["category"] = category
    return JSONResponse(body, status, headers=LIMITS)


def unauthorized(refusal: Refusal) -> Response:
    if refusal == "expired":
        return error(
            401,
            "The OAuth token used to make this call expired 0 second(s) ago.",
            "EXPIRED_AUTHENTICATION",
            context={"expire time": [iso_ms(datetime.now(UTC))]},
        )
    said = "Authentication credentials not found. This API supports OAuth 2.0 authentication."
    return error(401, said, "INVALID_AUTHENTICATION")


def missing_scopes(scopes: Sequence[str]) -> Response:
    return error(
        403,
        "This app hasn't been granted all required scopes to make this call.",
        "MISSING_SCOPES",
        errors=[
            {
                "message": "One or more of the following scopes are required.",
                "context": {"requiredGranularScopes": list(scopes)},
            }
        ],
    )


def rate_limited(fault: ProviderFault) -> Response:
    said = _LIMITS_BY_POLICY.get(fault.policy, "You have reached your ten_secondly_rolling limit.")
    body = {
        "status": "error",
        "message": said,
        "errorType": "RATE_LIMIT",
        "correlationId": str(uuid4()),
        "policyName": fault.policy,
    }
    headers = LIMITS | {"x-hubspot-ratelimit-remaining": "0"}
    if fault.retry_after is not None:
        headers["retry-after"] = fault.retry_after
    return JSONResponse(body, 429, headers=headers)
