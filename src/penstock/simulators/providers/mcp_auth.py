"""How MCP servers refuse a token, and say where one can be had (RFC 9728)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.oauth.grants import Refusal
from penstock.simulators.providers.provider import SimulatedProvider

if TYPE_CHECKING:
    from starlette.requests import Request

METADATA: Final = "/.well-known/oauth-protected-resource"


def mcp_unauthorized(request: Request, refusal: Refusal) -> Response:
    said = {"missing": "Authentication required", "expired": "The access token expired"}
    why = said.get(refusal, "The access token is invalid or was revoked")
    metadata = f"{request.url.scheme}://{request.url.netloc}{METADATA}{request.url.path}"
    challenge = f'Bearer error="invalid_token", error_description="{why}", resource_metadata="{metadata}"'
    body = {"error": "invalid_token", "error_description": why}
    return JSONResponse(body, 401, headers={"www-authenticate": challenge})


def mcp_forbidden(scopes: Sequence[str]) -> Response:
    why = f"Required scope: {' or '.join(scopes)}"
    challenge = f'Bearer error="insufficient_scope", error_description="{why}"'
    body = {"error": "insufficient_scope", "error_description": why}
    return JSONResponse(body, 403, headers={"www-authenticate": challenge})


def resource_metadata(providers: Mapping[str, SimulatedProvider], request: Request) -> Response:
    """RFC 9728: which authorisation server an MCP path belongs to."""
    resource = request.url.path.removeprefix(METADATA)
    provider = providers.get(resource.strip("/").partition("/")[0])
    if provider is None:
        return Response(status_code=404)
    base = f"{request.url.scheme}://{request.url.netloc}"
    return JSONResponse(
        {
            "resource": base + resource,
            "authorization_servers": [f"{base}/{provider.name}"],
            "scopes_supported": sorted(provider.vendor.scopes),
            "bearer_methods_supported": ["header"],
        }
    )
