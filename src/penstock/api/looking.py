"""What calls about queues, tasks and failures share: who may make them, and their transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from fastapi import Depends

from penstock.accounts import Caller
from penstock.api.acting import acting
from penstock.api.identity import Needs, caller_of
from penstock.api.reading import time_limited_read

if TYPE_CHECKING:
    from fastapi import Request

    from penstock.db import Connection

Watcher = Annotated[Caller, Depends(Needs("documents:read", installation=True))]
"""Somebody who looks: at a tenant, or at the whole installation."""
Runner = Annotated[Caller, Depends(Needs("operate", installation=True))]
"""Somebody who acts on tasks and failures, of a tenant or of all."""
InstallationOperator = Annotated[Caller, Depends(Needs("operate", installation=True, tenant=False))]
"""Somebody who acts on what all tenants share: queues and schedules."""


@asynccontextmanager
async def looking(request: Request) -> AsyncIterator[Connection]:
    """The caller's transaction for reading: a statement that takes longer than two seconds is stopped."""
    with time_limited_read():
        async with acting(request) as connection:
            yield connection


async def slugs(request: Request, connection: Connection, ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """The slugs of these tenants; somebody who looks at one tenant sees that one only."""
    caller = caller_of(request)
    if caller.tenant is not None:
        return {caller.tenant_id: caller.tenant_slug}
    wanted = sorted({each for each in ids if each is not None})
    if not wanted:
        return {}
    rows = await connection.fetch("select tenant_id, slug from all_tenants.slugs_of($1)", wanted)
    return {row["tenant_id"]: row["slug"] for row in rows}
