"""The deletion of a tenant: requested with its key, then followed with the token of the response."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict

from penstock.accounts import Deletion
from penstock.api.guarded import GuardedRoute, refuse_nul
from penstock.api.identity import engine_of
from penstock.api.parameters import Admin
from penstock.api.rate_limit import RateLimit, refuse_over
from penstock.api.receipt_page import receipt_page, unknown_receipt_page, wants_page
from penstock.api.shown_once import ShownOnce
from penstock.errors import InvalidArgument, NotFound
from penstock.model import TenantId

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")
receipts = APIRouter(tags=["Deletions"], prefix="/v1")

Confirmed = Annotated[
    str, Query(max_length=63, description=("The tenant's slug, as confirmation: this cannot be undone."))
]
Token = Annotated[
    str, Path(max_length=200, description=("The receipt token from the response to the deletion request."))
]
_PAGE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"text/html": {"schema": {"type": "string"}}}}
}


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


@receipts.get("/deletions/{token}", operation_id="showDeletion", response_model=Deletion, responses=_PAGE)
async def show_deletion(request: Request, response: Response, token: Token) -> Deletion | Response:
    """Show the progress of a deletion, and its receipt once it is done; the token replaces the key.

    A browser (`Accept: text/html`) gets a page with the same facts in plain words.
    """
    refuse_nul(request)
    engine = engine_of(request)
    limits: RateLimit = request.app.state.rate_limit
    asker = None if request.client is None else request.client.host
    allowance = limits.take(("deletion", asker), engine.settings.requests_per_minute)
    request.state.rate_headers = allowance.headers()
    refuse_over(allowance)
    try:
        found = await engine.deletions.find(token)
    except NotFound:
        if wants_page(request):
            return unknown_receipt_page(request)
        raise
    if wants_page(request):
        return receipt_page(request, found)
    response.headers["Vary"] = "Accept"
    return found
