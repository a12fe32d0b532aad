"""What the SDK's exceptions mean, together with the HTTP failure behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
from mcp.shared.exceptions import MCPError

from penstock.errors import PenstockError
from penstock.sources.errors import BindingMismatch, ProviderUnavailable, SourceError
from penstock.sources.responses import HttpFailure, failure_of

TIMED_OUT: Final = -32001
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in nested groups."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves(each)
    else:
        yield error


def is_dropped(error: BaseException, seen: HttpFailure | None) -> bool:
    """Whether the server no longer knows our session, as after a redeployment."""
    if seen is not None:
        return seen.status == 404 and seen.in_session
    return any(isinstance(each, MCPError) and each.message == "Session terminated" for each in leaves(error))


def explain(
    provider: str, binding: str, what: str, error: BaseException, seen: HttpFailure | None
) -> SourceError:
    """The error to raise instead; raise it `from None`: requests in the original carry the token."""
    if seen is not None:
        return failure_of(provider, what, seen)
    found = list(leaves(error))
    for each in found:
        if isinstance(each, SourceError):
            return each
        if isinstance(each, MCPError):
            return _explain_rpc(provider, binding, what, each)
    for each in found:
        if isinstance(each, httpx2.TimeoutException | TimeoutError):
            return ProviderUnavailable(provider, f"no answer to {what} in time")
        if isinstance(each, PenstockError):
            return ProviderUnavailable(provider, each.message)
    return ProviderUnavailable(provider, f"{what} failed ({type(found[0]).__name__})")


def _explain_rpc(provider: str, binding: str, what: str, error: MCPError) -> SourceError:
    data = error.data
    status = data.get("status") if isinstance(data, dict) else None
    if isinstance(data, dict) and isinstance(status, int) and 400 <= status <= 599:
        wait = data.get("retry_after")
        return failure_of(
            provider, what, HttpFailure(status, {} if wait is None else {"retry-after": str(wait)})
        )
    match error.code:
        case code if code == TIMED_OUT:
            return ProviderUnavailable(provider, f"no answer to {what} in time")
        case code if code == METHOD_NOT_FOUND:
            return BindingMismatch(provider, binding, f"the server does not know {what}")
        case code if code == INVALID_PARAMS:
            return BindingMismatch(provider, binding, f"the server rejects the arguments of {what}")
        case code:
            return ProviderUnavailable(provider, f"{what} failed with MCP error {code}")
