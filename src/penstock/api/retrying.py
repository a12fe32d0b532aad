"""Retries many documents over HTTP: failed or skipped ones, for one reason or any."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Writer

router = APIRouter(route_class=GuardedRoute, tags=["Documents"], prefix="/v1/documents")


class Retry(Body):
    """Which documents to retry; `dry_run` only counts them."""

    status: Literal["failed", "skipped"] = "failed"
    reason: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    project: Annotated[Text, Field(min_length=1, max_length=63)] | None = None
    dry_run: bool = False


class Retried(BaseModel):
    """How many documents matched, and how many of them were queued again."""

    model_config = ConfigDict(frozen=True)

    matched: int
    queued: int


@router.post("/retry", status_code=202, operation_id="retryDocuments")
async def retry(request: Request, caller: Writer, body: Retry) -> Retried:
    """Retry all documents with a status, or only those with one reason."""
    documents = engine_of(request).documents
    matched = await documents.count_to_retry(
        caller.tenant_id, status=body.status, reason=body.reason, project=body.project
    )
    if body.dry_run or not matched:
        return Retried(matched=matched, queued=0)
    queued = await documents.retry_all(
        caller.tenant_id, status=body.status, reason=body.reason, project=body.project
    )
    return Retried(matched=matched, queued=queued)
