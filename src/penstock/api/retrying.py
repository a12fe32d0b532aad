"""Retries many documents over HTTP: those that failed or were skipped, for one reason or for any."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import product_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Writer

router = APIRouter(route_class=GuardedRoute, tags=["Documents"], prefix="/v1/documents")


class Retry(Body):
    """Which documents; `dry_run` counts them and sends none."""

    status: Literal["failed", "skipped"] = "failed"
    reason: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    project: Annotated[Text, Field(min_length=1, max_length=63)] | None = None
    dry_run: bool = False


class Retried(BaseModel):
    """How many matched, and how many of them were sent through again."""

    model_config = ConfigDict(frozen=True)

    matched: int
    queued: int


@router.post("/retry", status_code=202, operation_id="retryDocuments")
async def retry(request: Request, caller: Writer, body: Retry) -> Retried:
    """Send all documents of a status through again, or only those with one reason."""
    documents = product_of(request).documents
    matched = await documents.count_to_retry(
        caller.tenant_id, status=body.status, reason=body.reason, project=body.project
    )
    if body.dry_run or not matched:
        return Retried(matched=matched, queued=0)
    queued = await documents.retry_all(
        caller.tenant_id, status=body.status, reason=body.reason, project=body.project
    )
    return Retried(matched=matched, queued=queued)
