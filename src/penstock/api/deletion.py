"""The deletion of a tenant: requested with its key, then followed with the token of the response."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.accounts import Deletion
from penstock.api.guarded import GuardedRoute, refuse_nul
from penstock.api.identity import engine_of
from penstock.api.parameters import Admin
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.api.shown_once import ShownOnce
from penstock.errors import InvalidArgument
from penstock.model import TenantId

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")
receipts = APIRouter(tags=["Deletions"], prefix="/v1")

Confirmed = Annotated[
    str, Query(max_length=63, description=("The tenant's slug, as confirmation: this cannot be undone."))
]
Token = Annotated[
    str, Path(max_length=200, description=("The receipt token from the response to the deletion request."))
]


class DeletionAccepted(BaseModel):
    """The deletion has started: the tenant's keys no longer work, and only the token shows the progress."""

    model_config = ConfigDict(frozen=True)

    account_id: TenantId
    account_deletion_task_id: int
    receipt_token: ShownOnce
    receipt_url: ShownOnce


@router.delete("/tenant", status_code=202, operation_id="deleteTenant")
async def delete_tenant(request: Request, caller: Admin, confirm: Confirmed) -> DeletionAccepted:
    """Delete the tenant of this key and everything it owns.

    Its keys stop working at once; documents, secrets and history are deleted in the background, and a receipt
    is issued at the end.
    """
    if confirm != caller.tenant_slug:
        raise InvalidArgument(
            "confirm is not the slug of this key's tenant", "confirm", f"Send confirm={caller.tenant_slug}"
        )
    requested = await engine_of(request).deletions.request(caller.tenant_id)
    token = requested.receipt_token
    return DeletionAccepted(
        account_id=requested.account_id,
        account_deletion_task_id=requested.account_deletion_task_id,
        receipt_token=token,
        receipt_url=None if token is None else f"/v1/deletions/{token}",
    )


@receipts.get("/deletions/{token}", operation_id="showDeletion")
async def show_deletion(request: Request, token: Token) -> Deletion:
    """Show the progress of a deletion, and its receipt once it is done; the token replaces the key."""
    refuse_nul(request)
    engine = engine_of(request)
    limits: RateLimit = request.app.state.rate_limit
    asker = None if request.client is None else request.client.host
    allowance = limits.take(("deletion", asker), engine.settings.requests_per_minute)
    request.state.rate_headers = allowance.headers()
    refuse_over(allowance)
    return await engine.deletions.find(token)
