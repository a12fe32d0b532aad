"""A tenant's own affairs: its keys, its usage and quotas, and where it is told of finished documents."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from penstock.accounts import ApiKey, Holdings, Scope, Usage
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import product_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Admin, Reader
from penstock.api.shown_once import SecretNote, ShownOnce
from penstock.errors import InvalidArgument
from penstock.model import KeyId

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")


class KeyWanted(Body):
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=5)]
    expires_at: AwareDatetime | None = None


class KeyMade(ApiKey):
    secret: ShownOnce
    secret_note: SecretNote = None


class Keys(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: list[ApiKey]


class MonthlyUsage(BaseModel):
    """What embedding cost in a month, by model; `reused` texts cost nothing. `quotas` are as of now."""

    model_config = ConfigDict(frozen=True)

    items: list[Usage]
    quotas: Holdings


class WebhookWanted(Body):
    url: Annotated[Text, Field(min_length=1, max_length=2_000)] | None
    secret: Annotated[Text, Field(max_length=200)] | None = Field(default=None, repr=False)


class WebhookSet(BaseModel):
    model_config = ConfigDict(frozen=True)

    url: str | None
    secret: ShownOnce
    secret_note: SecretNote = None


@router.post("/keys", status_code=201, operation_id="createKey")
async def create_key(request: Request, caller: Admin, body: KeyWanted) -> KeyMade:
    """Make a key; its secret is shown this once."""
    made = await product_of(request).accounts.create_key(
        caller.tenant_id, body.name, body.scopes, body.expires_at
    )
    return KeyMade.model_validate(made.model_dump())


@router.get("/keys", operation_id="listKeys")
async def keys(request: Request, caller: Admin) -> Keys:
    """List the tenant's keys, without their secrets."""
    return Keys(items=await product_of(request).accounts.list_keys(caller.tenant_id))


@router.delete("/keys/{key_id}", status_code=204, operation_id="revokeKey")
async def revoke_key(request: Request, caller: Admin, key_id: Annotated[UUID, Path()]) -> None:
    """Revoke a key, at once and for good."""
    await product_of(request).accounts.revoke_key(caller.tenant_id, KeyId(key_id))


@router.get("/usage", operation_id="showUsage")
async def usage(
    request: Request,
    caller: Reader,
    month: Annotated[str | None, Query(description="Such as 2026-04; this month without it.")] = None,
) -> MonthlyUsage:
    """Show what embedding cost this tenant, what it stores, and its quotas."""
    accounts = product_of(request).accounts
    items = await accounts.usage(caller.tenant_id, _first_day(month))
    return MonthlyUsage(items=items, quotas=await accounts.holdings(caller.tenant_id))


@router.put("/webhook", operation_id="setCompletionWebhook")
async def set_completion_webhook(request: Request, caller: Admin, body: WebhookWanted) -> WebhookSet:
    """Say where to tell of finished documents; its secret is shown this once. No address: nobody is told."""
    put = await product_of(request).completion_webhooks.put(caller.tenant_id, body.url, body.secret)
    return WebhookSet(url=put.url, secret=put.secret)


def _first_day(month: str | None) -> date | None:
    if month is None:
        return None
    match = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", month)
    if match is None or match[1] == "0000":
        raise InvalidArgument(f"{month[:20]!r} is no month", "month", "Write it like 2026-04")
    return date(int(match[1]), int(match[2]), 1)
