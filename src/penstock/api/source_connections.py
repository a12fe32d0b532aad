"""Connecting a source at its provider: where to send the user."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.parameters import Admin

router = APIRouter(route_class=GuardedRoute, tags=["Sources"], prefix="/v1")

Provider = Annotated[
    str,
    Path(
        pattern="^[a-z][a-z0-9_]{0,62}$",
        description="hubspot, google_drive, quickbooks, gmail, or the kind of your own provider.",
    ),
]
Project = Annotated[
    str, Query(min_length=1, max_length=63, description="The project that gets the documents.")
]


class ConnectAddress(BaseModel):
    """The address of the provider's consent page; it works once."""

    model_config = ConfigDict(frozen=True)

    url: str
    expires_at: datetime


@router.get(
    "/sources/{provider}/connect",
    operation_id="connectSource",
    response_model=ConnectAddress,
    responses={303: {"description": "To the provider's consent page, unless Accept is application/json."}},
)
async def connect_source(
    request: Request, caller: Admin, provider: Provider, project: Project = "default"
) -> Response | ConnectAddress:
    """Connect a source: redirects to the provider's consent page, or returns its address as JSON.

    The user grants access there and comes back to /oauth/callback, which creates the source, or connects it
    again if the account already has one, and starts a sync.
    """
    asked = await engine_of(request).connecting.begin(
        caller.tenant_id, provider, project=project, requested_by=caller.signature
    )
    accept = request.headers.get("accept", "")
    if "application/json" in accept and "text/html" not in accept:
        return ConnectAddress(url=asked.url, expires_at=asked.expires_at)
    return Response(status_code=303, headers={"Location": asked.url, "Cache-Control": "no-store"})
