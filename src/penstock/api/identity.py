"""Authenticates a request: its API key, the scopes it needs, and its tenant's rate limit."""

from __future__ import annotations

from fastapi import Request  # noqa: TC002 - FastAPI reads the annotations of Needs at run time

from penstock.accounts import Caller, Scope
from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.engine.engine import Engine
from penstock.net.bearer import api_key


def engine_of(request: Request) -> Engine:
    """The services behind this API."""
    engine: Engine = request.app.state.engine
    return engine


def caller_of(request: Request) -> Caller:
    """The caller; the route class has authenticated it before any handler runs."""
    caller: Caller = request.state.caller
    return caller


async def identify(request: Request) -> Caller:
    """Read the key, count the request against its tenant's rate limit, and remember the caller."""
    caller = await engine_of(request).accounts.authenticate(api_key(request.headers))
    admit(request, caller)
    request.state.caller = caller
    return caller


def admit(request: Request, caller: Caller) -> None:
    """Count a request against the tenant's rate limit; raises an error when it is exceeded."""
    limits: RateLimit = request.app.state.rate_limit
    per_minute = caller.requests_per_minute or engine_of(request).settings.requests_per_minute
    allowance = limits.take(caller.tenant_id, per_minute)
    request.state.rate_headers = allowance.headers()
    refuse_over(allowance)


class Needs:
    """A dependency: the caller, whose key must have this scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, request: Request) -> Caller:
        # A coroutine even though it waits for nothing: FastAPI would run a plain function in a thread.
        caller = caller_of(request)
        if not caller.may(self.scope):
            raise HttpRefused(
                "forbidden",
                f"The key lacks the scope {self.scope}",
                f"Use a key with the scope {self.scope}, or create one: POST /v1/keys",
                field="scope",
            )
        return caller
