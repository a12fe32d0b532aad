"""What Microsoft's token endpoint says when it refuses: AADSTS codes, with ids for its support."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from penstock.simulators.providers.oauth.grants import Grants

_CODES: Final = {
    "invalid_client": "AADSTS7000215: Invalid client secret provided.",
    "unauthorized_client": "AADSTS700016: Application was not found in the directory.",
    "interaction_required": "AADSTS50076: You must use multi-factor authentication to access the resource.",
    "invalid_grant": "AADSTS70000: Provided grant is invalid or malformed.",
    "unsupported_grant_type": "AADSTS70003: The app requested an unsupported grant type.",
    "temporarily_unavailable": "AADSTS90033: A transient error has occurred. Please try again.",
}
_WORDS: Final = {
    "The authorization code is invalid or has expired.": (
        "AADSTS70008: The provided authorization code has expired."
    ),
    "Invalid code verifier.": "AADSTS501481: The Code_Verifier does not match the code_challenge.",
    "The redirect_uri differs from the one of the request.": (
        "AADSTS500112: The reply address does not match the one of the authorization request."
    ),
}


def why_dead(grants: Grants, token: str) -> str:
    """Revoked, unknown, or not used for too long."""
    grant = grants.refresh.get(token)
    if grant is None:
        return "AADSTS9002313: Invalid request. Request is malformed or invalid."
    if grant.revoked:
        return "AADSTS50173: The provided grant has expired due to it being revoked."
    return "AADSTS700082: The refresh token has expired due to inactivity."


def refusal(error: str, why: str, now: datetime) -> dict[str, Any]:
    said = why if why.startswith("AADSTS") else _WORDS.get(why) or _CODES.get(error) or f"AADSTS90014: {why}"
    code = re.match(r"AADSTS(\d+)", said)
    assert code is not None, said
    trace, correlation, time = str(uuid4()), str(uuid4()), f"{now:%Y-%m-%d %H:%M:%SZ}"
    return {
        "error": error,
        "error_description": f"{said} Trace ID: {trace} Correlation ID: {correlation} Timestamp: {time}",
        "error_codes": [int(code[1])],
        "timestamp": time,
        "trace_id": trace,
        "correlation_id": correlation,
        "error_uri": f"https://login.microsoftonline.com/error?code={code[1]}",
    }
