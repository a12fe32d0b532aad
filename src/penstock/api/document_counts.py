"""How many documents there are in each status, under a filter, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.parameters import Reader
from penstock.documents.filters import DocumentFilter
from penstock.documents.rows import StatusCount

router = APIRouter(route_class=GuardedRoute, tags=["Documents"], prefix="/v1/documents")

_SEVERAL: Final = "Several are separated by commas; one after a ! is excluded."


class StatusCounts(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[StatusCount]


@router.get("/counts", operation_id="countDocuments")
async def counts(
    request: Request,
    caller: Reader,
    project: Annotated[str | None, Query(max_length=1_000, description=f"Projects. {_SEVERAL}")] = None,
    source_id: Annotated[str | None, Query(max_length=2_000, description=f"Sources. {_SEVERAL}")] = None,
    mime_type: Annotated[str | None, Query(max_length=1_000, description=f"Types. {_SEVERAL}")] = None,
    reason: Annotated[str | None, Query(max_length=1_000, description=f"Reason codes. {_SEVERAL}")] = None,
    fingerprint: Annotated[
        str | None, Query(max_length=64, description="Only documents of this group of failures.")
    ] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="Part of the title, file name, path or external id.")
    ] = None,
) -> StatusCounts:
    """Count the documents in each status; above 10,000 a count is an estimate."""
    chosen = DocumentFilter(
        project=project,
        source_id=source_id,
        mime_type=mime_type,
        reason=reason,
        fingerprint=fingerprint,
        q=q,
    )
    return StatusCounts(items=await engine_of(request).documents.counts(caller.tenant_id, chosen))
