"""A tenant's account: keys, usage, quotas, and the completion webhook."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from penstock.accounts import ApiKey, Quotas, Scope, Usage
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Admin, NamePart, Reader, States
from penstock.api.shown_once import SecretNote, ShownOnce
from penstock.errors import InvalidArgument
from penstock.model import KeyId

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")


class KeyWanted(Body):
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=6)]
    expires_at: AwareDatetime | None = None


class KeyMade(BaseModel):
    model_config = ConfigDict(frozen=True)

    key_id: KeyId
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    secret: ShownOnce
    secret_note: SecretNote = None


class Keys(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: list[ApiKey]


class MonthlyUsage(BaseModel):
    """Embedding usage in a month, by model; `reused` texts cost nothing. `quotas` are current."""

    model_config = ConfigDict(frozen=True)

    items: list[Usage]
    quotas: Quotas


class WebhookWanted(Body):
    url: Annotated[Text, Field(min_length=1, max_length=2_000)] | None
    secret: Annotated[Text, Field(max_length=200)] | None = Field(default=None, repr=False)


class WebhookSet(BaseModel):
    model_config = ConfigDict(frozen=True)

    url: str | None
    secret: ShownOnce
    secret_note: SecretNote = None


class Contact(Body):
    """Who is told by email when a person must do something; null: nobody."""

    email: Annotated[Text, Field(min_length=3, max_length=320)] | None


@router.post("/keys", status_code=201, operation_id="createKey")
async def create_key(request: Request, caller: Admin, body: KeyWanted) -> KeyMade:
    """Create a key; its secret is shown only once."""
    made = await engine_of(request).accounts.create_key(
        caller.tenant_id, body.name, body.scopes, body.expires_at
    )
    return KeyMade.model_validate(made, from_attributes=True)


@router.get("/keys", operation_id="listKeys")
async def keys(request: Request, caller: Admin, state: States = None, q: NamePart = None) -> Keys:
    """List the tenant's keys, without their secrets; a key is `active`, `expired` or `revoked`."""
    chosen = {"state": state, "q": q}
    return Keys(items=await engine_of(request).accounts.list_keys(caller.tenant_id, chosen))


@router.delete("/keys/{key_id}", status_code=204, operation_id="revokeKey")
async def revoke_key(request: Request, caller: Admin, key_id: Annotated[UUID, Path()]) -> None:
    """Revoke a key at once and for good."""
    await engine_of(request).accounts.revoke_key(caller.tenant_id, KeyId(key_id))


@router.get("/usage", operation_id="showUsage")
async def usage(
    request: Request,
    caller: Reader,
    month: Annotated[
        str | None, Query(description="A month such as 2026-04; default: the current month.")
    ] = None,
) -> MonthlyUsage:
    """Show this tenant's embedding usage, what it stores, and its quotas."""
    accounts = engine_of(request).accounts
    items = await accounts.usage(caller.tenant_id, _first_day(month))
    return MonthlyUsage(items=items, quotas=await accounts.holdings(caller.tenant_id))


@router.put("/webhook", operation_id="setCompletionWebhook")
async def set_completion_webhook(request: Request, caller: Admin, body: WebhookWanted) -> WebhookSet:
    """Set the URL that is notified of finished documents; its secret is shown only once.

    Without a URL, notifications are off.
    """
    put = await engine_of(request).completion_webhooks.put(caller.tenant_id, body.url, body.secret)
    return WebhookSet(url=put.url, secret=put.secret)


@router.get("/contact", operation_id="showContact")
async def contact(request: Request, caller: Admin) -> Contact:
    """Show who is told by email when a source must be connected again."""
    tenant = await engine_of(request).accounts.show_tenant(caller.tenant_id)
    return Contact(email=tenant.contact_email)


@router.put("/contact", operation_id="setContact")
async def set_contact(request: Request, caller: Admin, body: Contact) -> Contact:
    """Choose who is told by email when a source must be connected again; null for nobody."""
    tenant = await engine_of(request).accounts.set_tenant(caller.tenant_id, contact_email=body.email)
    return Contact(email=tenant.contact_email)


def _first_day(month: str | None) -> date | None:
    if month is None:
        return None
    match = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", month)
    if match is None or match[1] == "0000":
        raise InvalidArgument(f"{month[:20]!r} is not a month", "month", "Write it like 2026-04")
    return date(int(match[1]), int(match[2]), 1)
