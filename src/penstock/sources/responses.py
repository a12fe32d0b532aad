"""What an HTTP response that is not a success means for a sync."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.net.waiting import retry_after
from penstock.sources.errors import (
    AccessForbidden,
    ProviderUnavailable,
    SourceError,
    Throttled,
    TokenRejected,
)

DAILY_WAIT: Final = 4 * 3_600.0
"""A daily limit is lifted at the account's midnight, which we do not know."""
USUAL_WAIT: Final = 60.0
_LONGEST_BODY: Final = 65_536
_CODE: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,80}")
_RATE: Final = ("ratelimit", "userratelimit", "quotaexceeded", "dailylimit", "toomanyrequests")
_SCOPE: Final = re.compile(r"scopes?[\"':= ]+([A-Za-z0-9_.:/-]{3,100})", re.IGNORECASE)
_PASSING: Final = frozenset({408, 423, 425, 477})


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """A response with an error status; the body is kept for its error codes only."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    in_session: bool = False
    """The request belonged to an MCP session."""


class CallRejected(ProviderUnavailable):
    """The provider rejected one call (400, 404, 409, 410 …); `status` is None if it gave none.

    A reader that knows what this means for its call, such as an expired page token, handles it; otherwise the
    queue tries again.
    """

    code = "call_rejected"

    def __init__(self, provider: str, what: str, status: int | None, error: str | None = None) -> None:
        said = " ".join(filter(None, (f"HTTP {status}" if status else "an error", error)))
        super().__init__(provider, f"{what} was answered with {said}")
        self.status = status
        self.error = error
        self.args = (provider, what, status, error)


def failure_of(provider: str, what: str, answer: HttpFailure) -> SourceError:
    """The error to raise; `what` names the call, such as a tool."""
    codes = list(error_codes(answer.body))
    reason = codes[0] if codes else None
    limited = any(code.lower().startswith(_RATE) for code in codes)
    if answer.status == 401 or "AuthenticationFault" in codes:
        return TokenRejected(provider)
    if answer.status == 429 or (answer.status == 403 and limited):
        return Throttled(provider, _wait(answer, codes), reason)
    if answer.status == 403:
        return AccessForbidden(provider, what, _missing_scope(answer) or reason)
    if answer.status in _PASSING and (asked := retry_after(answer.headers)) is not None:
        return Throttled(provider, asked, reason)
    if answer.status >= 500 or answer.status in _PASSING:
        return ProviderUnavailable(provider, f"{what} was answered with HTTP {answer.status}")
    return CallRejected(provider, what, answer.status, reason)


def error_codes(body: bytes) -> Iterator[str]:
    """The vendors' error codes in a body, the most telling first; never free text, which may name people."""
    try:
        parsed = json.loads(body[:_LONGEST_BODY] or b"{}")
    except (ValueError, RecursionError):
        return
    for found in _codes(parsed):
        if isinstance(found, str | int) and _CODE.fullmatch(str(found)):
            yield str(found)


def _codes(body: Any) -> Iterator[object]:
    if not isinstance(body, dict):
        return
    for name in ("policyName", "category", "errorType"):  # HubSpot
        yield body.get(name)
    error = body.get("error")
    if isinstance(error, dict):  # Google
        for each in (*_objects(error.get("errors")), *_objects(error.get("details"))):
            yield each.get("reason")
        yield error.get("status")
        if isinstance(error.get("code"), str):  # Microsoft Graph; Google's is the HTTP status
            yield error["code"]
    elif isinstance(error, str):  # OAuth
        yield error
    fault = body.get("Fault") or body.get("fault")  # QuickBooks, and its gateway
    if isinstance(fault, dict):
        for each in _objects(fault.get("Error") or fault.get("error")):
            yield each.get("code")
        yield fault.get("type")


def _objects(value: object) -> list[dict[str, Any]]:
    """What is a list of objects where the vendor documents one; nothing of anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _wait(answer: HttpFailure, codes: list[str]) -> float:
    asked = retry_after(answer.headers)
    if any(code.upper() == "DAILY" or code.lower().startswith("dailylimit") for code in codes):
        return max(DAILY_WAIT, asked or 0.0)
    if asked is not None:
        return asked
    try:
        interval = float(answer.headers.get("x-hubspot-ratelimit-interval-milliseconds", "")) / 1_000
    except ValueError:
        return USUAL_WAIT
    return interval if 0 < interval <= 3_600 else USUAL_WAIT


def _missing_scope(answer: HttpFailure) -> str | None:
    """The scope that a 403 says is needed."""
    try:
        parsed = json.loads(answer.body[:_LONGEST_BODY] or b"{}")
    except (ValueError, RecursionError):
        parsed = {}
    for each in _objects(parsed.get("errors")) if isinstance(parsed, dict) else ():
        context = each.get("context")
        scopes = context.get("requiredGranularScopes") if isinstance(context, dict) else None
        if isinstance(scopes, list) and scopes and _CODE.fullmatch(str(scopes[0])):
            return f"scope {scopes[0]}"
    found = _SCOPE.search(answer.headers.get("www-authenticate", "")[:1_000])
    return f"scope {found[1]}" if found else None
