"""The deletion of a tenant: requested with its key, then followed by the token it was given, without one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.accounts import Deletion
from penstock.api.guarded import GuardedRoute, refuse_nul
from penstock.api.identity import product_of
from penstock.api.parameters import Admin
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.api.shown_once import ShownOnce
from penstock.errors import InvalidArgument
from penstock.model import TenantId

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")
receipts = APIRouter(tags=["Deletions"], prefix="/v1")

Confirmed = Annotated[str, Query(max_length=63, description="The tenant's slug: this cannot be undone.")]
Token = Annotated[str, Path(max_length=200, description="What the request was answered with.")]


class DeletionAccepted(BaseModel):
    """From here on no key of the tenant opens anything; the token alone shows how far it is."""

    model_config = ConfigDict(frozen=True)

    account_id: TenantId
    account_deletion_task_id: int
    receipt_token: ShownOnce
    receipt_url: ShownOnce


@router.delete("/tenant", status_code=202, operation_id="deleteTenant")
async def delete_tenant(request: Request, caller: Admin, confirm: Confirmed) -> DeletionAccepted:
    """Delete the tenant of this key, with all that it owns.

    Its keys stop at once; documents, secrets and history follow in the background, and a receipt in the end.
    """
    if confirm != caller.tenant_slug:
        raise InvalidArgument(
            "confirm is not the slug of this key's tenant", "confirm", f"Send confirm={caller.tenant_slug}"
        )
    requested = await product_of(request).deletions.request(caller.tenant_id)
    token = requested.receipt_token
    return DeletionAccepted(
        account_id=requested.account_id,
        account_deletion_task_id=requested.account_deletion_task_id,
        receipt_token=token,
        receipt_url=None if token is None else f"/v1/deletions/{token}",
    )


@receipts.get("/deletions/{token}", operation_id="showDeletion")
async def show_deletion(request: Request, token: Token) -> Deletion:
    """Show how far a deletion is, and its receipt once it is done; the token is the key."""
    refuse_nul(request)
    product = product_of(request)
    limits: RateLimit = request.app.state.rate_limit
    asker = None if request.client is None else request.client.host
    allowance = limits.take(("deletion", asker), product.settings.requests_per_minute)
    request.state.rate_headers = allowance.headers()
    refuse_over(allowance)
    return await product.deletions.find(token)
