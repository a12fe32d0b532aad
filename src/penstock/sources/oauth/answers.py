"""Reads what a provider's token endpoint answers: tokens, or an error that is told apart by its code."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from penstock.net.waiting import retry_after
from penstock.sources.errors import (
    ClientRejected,
    GrantRejected,
    ProviderUnavailable,
    SourceError,
    Throttled,
)

if TYPE_CHECKING:
    import httpx2

    from penstock.sources.oauth.app import OAuthApp

LONGEST_TOKEN: Final = 16_384
LONGEST_LIFE: Final = 365 * 86_400.0
USUAL_LIFE: Final = 1_800.0
"""Of an access token whose provider does not say how long it lives: the shortest of those that do."""
THROTTLE_SECONDS: Final = 60.0

_LATER: Final = frozenset({408, 423, 425})
_OURS: Final = frozenset(
    {
        "invalid_client",
        "unauthorized_client",
        "invalid_request",
        "invalid_scope",
        "unsupported_grant_type",
        "redirect_uri_mismatch",
    }
)
_PASSING: Final = frozenset(
    {"server_error", "temporarily_unavailable", "internal_failure", "rate_limit_exceeded", "slow_down"}
)
"""Codes of trouble at the provider, whatever the status: they say nothing about the grant."""
# HubSpot's own words, where an answer has no standard code.
_WORDS: Final = {
    "BAD_REFRESH_TOKEN": "invalid_grant",
    "BAD_AUTH_CODE": "invalid_grant",
    "BAD_CLIENT_ID": "invalid_client",
    "BAD_CLIENT_SECRET": "invalid_client",
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True, slots=True)
class Granted:
    """The tokens of an answer; no refresh token means that the previous one stays valid."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    seconds: float


def clean_code(code: object) -> str:
    """A provider's error code as it may be stored and shown; its free texts may name people."""
    return _UNSAFE.sub("", code[:1_000])[:100] if isinstance(code, str) else ""


def granted(app: OAuthApp, response: httpx2.Response, body: bytes) -> Granted:
    """The tokens; otherwise raises what `failure` says."""
    if not 200 <= response.status_code < 300:
        raise failure(app, response, body, "TOKEN_URL")
    answer = json_object(body)
    access, refresh = answer.get("access_token"), answer.get("refresh_token")
    if not _is_token(access):
        raise ProviderUnavailable(app.title, "its token endpoint answered without an access token")
    assert isinstance(access, str)
    return Granted(access, refresh if _is_token(refresh) else None, _seconds(answer.get("expires_in")))


def failure(app: OAuthApp, response: httpx2.Response, body: bytes, address: str) -> SourceError:
    """What an error answer means: wait, try again, ask the operator, or ask the user to connect again.

    `address` is the end of the name of the setting that holds the endpoint's address.
    """
    status = response.status_code
    if status == 429:
        return Throttled(app.title, retry_after(response.headers) or THROTTLE_SECONDS)
    if status in _LATER or status >= 500:
        return ProviderUnavailable(app.title, f"it answered {status}")
    answer = json_object(body)
    code = clean_code(answer.get("error")) or _WORDS.get(str(answer.get("status")), "")
    prefix = f"PENSTOCK_{app.provider.upper()}"
    if code in _OURS:
        settings = f"{prefix}_CLIENT_ID, {prefix}_CLIENT_SECRET and {prefix}_SCOPES"
        return ClientRejected(app.title, code, settings)
    if code in _PASSING or (status == 403 and code != "invalid_grant"):
        # 403 is no answer of a token endpoint: a firewall in between says so, in JSON or not.
        return ProviderUnavailable(app.title, f"it answered {status}")
    if code or status == 401:
        return GrantRejected(app.title, code or f"http_{status}")
    return ClientRejected(app.title, f"http_{status}", f"{prefix}_{address}")


def json_object(body: bytes) -> Mapping[str, Any]:
    """The JSON object in a body; empty if it is anything else."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_token(value: object) -> bool:
    return (
        isinstance(value, str) and 0 < len(value) <= LONGEST_TOKEN and value.isascii() and "\0" not in value
    )


def _seconds(value: object) -> float:
    """How long an access token lives; some providers send the number as text, some none at all."""
    try:
        seconds = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    return min(seconds, LONGEST_LIFE) if math.isfinite(seconds) and seconds > 0 else USUAL_LIFE
