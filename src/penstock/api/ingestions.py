"""One request to process a document, and its status."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.parameters import Reader
from penstock.documents.rows import Ingestion
from penstock.model import IngestionId

router = APIRouter(route_class=GuardedRoute, tags=["Documents"], prefix="/v1/ingestions")


@router.get("/{ingestion_id}", operation_id="showIngestion")
async def ingestion(
    request: Request,
    caller: Reader,
    ingestion_id: Annotated[
        UUID, Path(description=("The ingestion_id from the response to an upload or delivery."))
    ],
) -> Ingestion:
    """Show one ingestion: its document, its status, and why it was skipped or failed."""
    return await engine_of(request).documents.ingestion(caller.tenant_id, IngestionId(ingestion_id))
