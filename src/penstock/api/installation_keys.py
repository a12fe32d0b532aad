"""Keys of the whole installation: who has one, and to revoke it. `penstock key create` creates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict

from penstock.accounts.installation_keys import (
    InstallationKey,
    list_installation_keys,
    revoke_installation_key,
)
from penstock.api.acting import operating
from penstock.api.guarded import GuardedRoute
from penstock.api.tenants import OperatorAdmin

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1/installation/keys")


class InstallationKeyList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[InstallationKey]


@router.get("", operation_id="listInstallationKeys")
async def keys(request: Request, caller: OperatorAdmin) -> InstallationKeyList:
    """List the keys of the installation, newest first, without their secrets."""
    async with operating(request) as conn:
        return InstallationKeyList(items=await list_installation_keys(conn))


@router.delete("/{key_id}", status_code=204, operation_id="revokeInstallationKey")
async def revoke(
    request: Request, caller: OperatorAdmin, key_id: Annotated[UUID, Path(description="The key's id.")]
) -> None:
    """Revoke a key of the installation at once and for good."""
    async with operating(request) as conn:
        await revoke_installation_key(conn, key_id)
