"""The tenants of an installation, for those who are signed in to it: list, create and change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Accounts, Caller, Tenant
from penstock.api.acting import operators_for
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import Needs, engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import NamePart, ProjectSlug, States
from penstock.engine.operator_access import accounts_of

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1/tenants")

Viewer = Annotated[Caller, Depends(Needs("documents:read", installation=True, tenant=False))]
OperatorAdmin = Annotated[Caller, Depends(Needs("admin", installation=True, tenant=False))]

Limit = Annotated[int | None, Field(ge=1, le=2_147_483_647)]
Large = Annotated[int | None, Field(ge=0, le=9_007_199_254_740_991)]
Name = Annotated[Text, Field(min_length=1, max_length=200)]


class TenantList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[Tenant]


class _Limits(Body):
    max_upload_bytes: Annotated[int | None, Field(ge=1, le=5_000_000_000)] = None
    requests_per_minute: Limit = None
    monthly_token_budget: Large = None
    max_documents: Large = None
    max_stored_bytes: Large = None
    max_keys: Large = None


class TenantWanted(_Limits):
    """Limits that are null are the installation's defaults; quota 0 means no quota."""

    slug: Annotated[Text, Field(min_length=1, max_length=63)]
    name: Name | None = None


class TenantChanges(_Limits):
    """What is named is changed; null goes back to the installation's default."""

    name: Name | None = None


@router.get("", operation_id="listTenants")
async def tenants(request: Request, caller: Viewer, state: States = None, q: NamePart = None) -> TenantList:
    """List the tenants with their limits and what they use of them, oldest first.

    A tenant's state is `active` or `deleted`; `q` is part of its name or slug.
    """
    found = await (await _accounts(request, caller)).list_tenants()
    return TenantList(items=[each for each in found if _matches(each, state, q)])


@router.post("", status_code=201, operation_id="createTenant")
async def create(request: Request, caller: OperatorAdmin, body: TenantWanted) -> Tenant:
    """Create a tenant with a project `default`."""
    accounts = await _accounts(request, caller)
    limits = body.model_dump(exclude={"slug", "name"})
    return await accounts.create_tenant(body.slug, body.name, **limits)


@router.patch("/{slug}", operation_id="changeTenant")
async def change(request: Request, caller: OperatorAdmin, slug: ProjectSlug, body: TenantChanges) -> Tenant:
    """Change a tenant's name, limits, quotas or token budget."""
    accounts = await _accounts(request, caller)
    changes = body.model_dump(exclude_unset=True)
    if changes.get("name", "") is None:
        del changes["name"]
    found = await accounts.find_tenant(slug)
    await accounts.set_tenant(found.tenant_id, **changes)
    return await accounts.show_tenant(found.tenant_id)


def _matches(tenant: Tenant, states: str | None, part: str | None) -> bool:
    """As lists of SQL match: several states separated by commas, `!` in front excludes one."""
    words = [word for word in (states or "").split(",") if word]
    excluded = {word[1:] for word in words if word.startswith("!")}
    wanted = {word for word in words if not word.startswith("!")}
    if tenant.status in excluded or (wanted and tenant.status not in wanted):
        return False
    return part is None or part.lower() in f"{tenant.name}\n{tenant.slug}".lower()


async def _accounts(request: Request, caller: Caller) -> Accounts:
    engine = engine_of(request)
    return accounts_of(await operators_for(engine, caller), engine.settings)
