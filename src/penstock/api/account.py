"""A tenant's own affairs: its keys, its usage, where it is told of finished documents, its webhook source."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from penstock.accounts import ApiKey, NewKey, Scope, Usage
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import product_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Admin, Reader
from penstock.errors import InvalidArgument
from penstock.model import KeyId

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")


class KeyWanted(Body):
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=5)]
    expires_at: AwareDatetime | None = None


class Keys(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: list[ApiKey]


class MonthlyUsage(BaseModel):
    """What embedding cost in a month, by model; `reused` texts cost nothing."""

    model_config = ConfigDict(frozen=True)

    items: list[Usage]


@router.post("/keys", status_code=201, operation_id="createKey")
async def create_key(request: Request, caller: Admin, body: KeyWanted) -> NewKey:
    """Make a key; its secret is shown this once."""
    return await product_of(request).accounts.create_key(
        caller.tenant_id, body.name, body.scopes, body.expires_at
    )


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
    """Show what embedding cost this tenant."""
    items = await product_of(request).accounts.usage(caller.tenant_id, _first_day(month))
    return MonthlyUsage(items=items)


def _first_day(month: str | None) -> date | None:
    if month is None:
        return None
    match = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", month)
    if match is None or match[1] == "0000":
        raise InvalidArgument(f"{month[:20]!r} is no month", "month", "Write it like 2026-04")
    return date(int(match[1]), int(match[2]), 1)
