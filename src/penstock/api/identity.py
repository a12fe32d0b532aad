"""Who is asking: the API key of a request, the scopes it needs, and how often its tenant may ask."""

from __future__ import annotations

from fastapi import Request  # noqa: TC002 - FastAPI reads the annotations of Needs at run time

from penstock.accounts import Caller, Scope
from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.net.bearer import api_key
from penstock.product import Product


def product_of(request: Request) -> Product:
    """The services behind this API."""
    product: Product = request.app.state.product
    return product


def caller_of(request: Request) -> Caller:
    """Who asks; a route class has made sure of it before any handler runs."""
    caller: Caller = request.state.caller
    return caller


async def identify(request: Request) -> Caller:
    """Read the key, count the request against its tenant's allowance, and remember who it is."""
    caller = await product_of(request).accounts.authenticate(api_key(request.headers))
    admit(request, caller)
    request.state.caller = caller
    return caller


def admit(request: Request, caller: Caller) -> None:
    """Count a request against the tenant's allowance; raises when that is used up."""
    limits: RateLimit = request.app.state.rate_limit
    per_minute = caller.requests_per_minute or product_of(request).settings.requests_per_minute
    allowance = limits.take(caller.tenant_id, per_minute)
    request.state.rate_headers = allowance.headers()
    refuse_over(allowance)


class Needs:
    """A dependency: the caller, whose key must have this scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, request: Request) -> Caller:
        # A coroutine, though it waits for nothing: FastAPI would send a plain function to a thread.
        caller = caller_of(request)
        if not caller.may(self.scope):
            raise HttpRefused(
                "forbidden",
                f"The key lacks the scope {self.scope}",
                f"Use a key with the scope {self.scope}, or make one: POST /v1/keys",
                field="scope",
            )
        return caller
