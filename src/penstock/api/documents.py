"""Documents: lists, originals, chunks, timelines, retry, re-index and delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict

from penstock.api.guarded import GuardedRoute, StreamedRoute
from penstock.api.identity import engine_of
from penstock.api.parameters import Cursor, Document, Limit, Reader, Wait, Writer
from penstock.documents.filters import DocumentFilter, DocumentOrder
from penstock.documents.rows import ChunkRow, DocumentPage, Event, Explanation, Ingestion, Page
from penstock.documents.rows import Document as DocumentRow
from penstock.model import DocumentId

router = APIRouter(route_class=GuardedRoute, tags=["Documents"], prefix="/v1/documents")
originals = APIRouter(route_class=StreamedRoute, tags=["Documents"], prefix="/v1/documents")

_SEVERAL: Final = "Several are separated by commas; one after a ! is excluded."
_ORIGINAL: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The original bytes.",
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class Queued(BaseModel):
    """The task that was enqueued."""

    model_config = ConfigDict(frozen=True)

    task_id: int | None


class Ingestions(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[Ingestion]


@router.get("", operation_id="listDocuments")
async def documents(
    request: Request,
    caller: Reader,
    project: Annotated[str | None, Query(max_length=1_000, description=f"Projects. {_SEVERAL}")] = None,
    status: Annotated[
        str | None, Query(max_length=200, description=f"Statuses, such as failed,skipped. {_SEVERAL}")
    ] = None,
    source_id: Annotated[str | None, Query(max_length=2_000, description=f"Sources. {_SEVERAL}")] = None,
    mime_type: Annotated[str | None, Query(max_length=1_000, description=f"Types. {_SEVERAL}")] = None,
    reason: Annotated[str | None, Query(max_length=1_000, description=f"Reason codes. {_SEVERAL}")] = None,
    fingerprint: Annotated[
        str | None, Query(max_length=64, description="Only documents of this group of failures.")
    ] = None,
    title: Annotated[
        str | None,
        Query(max_length=200, description=("Only documents whose title or file name contains this.")),
    ] = None,
    q: Annotated[
        str | None,
        Query(
            max_length=200,
            description=(
                "Only documents whose title, file name, path or external id contains this. Each page looks "
                "at 20,000 documents: one may be empty and still have a cursor."
            ),
        ),
    ] = None,
    sort: DocumentOrder = "newest",
    count: Annotated[
        bool, Query(description="Also say how many match; above 10,000 it is an estimate.")
    ] = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> DocumentPage:
    """List documents, newest first unless another order is asked for."""
    chosen = DocumentFilter(
        project=project,
        status=status,
        source_id=source_id,
        mime_type=mime_type,
        reason=reason,
        fingerprint=fingerprint,
        title=title,
        q=q,
    )
    return await engine_of(request).documents.page(
        caller.tenant_id, chosen, sort=sort, cursor=cursor, limit=limit, count=count
    )


@router.get("/{document_id}", operation_id="showDocument")
async def document(request: Request, caller: Reader, document_id: Document, wait: Wait = None) -> DocumentRow:
    """Show one document; with `wait`, as soon as it is indexed, skipped or failed, or when the time is up."""
    found = engine_of(request).documents
    if wait:
        return await found.wait(caller.tenant_id, DocumentId(document_id), wait)
    return await found.show(caller.tenant_id, DocumentId(document_id))


@originals.get(
    "/{document_id}/content",
    response_class=StreamingResponse,
    responses=_ORIGINAL,
    operation_id="getContent",
)
async def content(request: Request, caller: Reader, document_id: Document) -> Response:
    """Download the original."""
    original = await engine_of(request).documents.content(caller.tenant_id, DocumentId(document_id))
    return StreamingResponse(
        original.stream,
        media_type=original.mime_type,
        headers={
            "Content-Length": str(original.size),
            "Content-Disposition": _attachment(original.filename or f"{document_id}"),
            # Uploaded content must never run in a browser, whatever its type says.
            "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
        },
    )


@router.get("/{document_id}/chunks", operation_id="listChunks")
async def chunks(
    request: Request, caller: Reader, document_id: Document, cursor: Cursor = None, limit: Limit = 100
) -> Page[ChunkRow]:
    """List a document's searchable chunks, in order."""
    return await engine_of(request).documents.chunks(
        caller.tenant_id, DocumentId(document_id), cursor=cursor, limit=limit
    )


@router.get("/{document_id}/events", operation_id="listEvents")
async def events(
    request: Request, caller: Reader, document_id: Document, cursor: Cursor = None, limit: Limit = 100
) -> Page[Event]:
    """List a document's timeline, oldest first; it is kept after deletion."""
    return await engine_of(request).documents.events(
        caller.tenant_id, DocumentId(document_id), cursor=cursor, limit=limit
    )


@router.get("/{document_id}/ingestions", operation_id="listIngestions")
async def ingestions(request: Request, caller: Reader, document_id: Document) -> Ingestions:
    """List the latest requests to process a document, newest first."""
    found = engine_of(request).documents
    await found.show(caller.tenant_id, DocumentId(document_id))
    return Ingestions(items=await found.ingestions(caller.tenant_id, DocumentId(document_id)))


@router.get("/{document_id}/explain", operation_id="explainDocument")
async def explain(request: Request, caller: Reader, document_id: Document) -> Explanation:
    """Explain a document's state: what it waits for and how it got there."""
    return await engine_of(request).documents.explain(caller.tenant_id, DocumentId(document_id))


@router.post("/{document_id}/retry", status_code=202, operation_id="retryDocument")
async def retry(request: Request, caller: Writer, document_id: Document) -> Queued:
    """Process a failed or skipped document again."""
    task = await engine_of(request).documents.retry(caller.tenant_id, DocumentId(document_id))
    return Queued(task_id=task)


@router.post("/{document_id}/reindex", status_code=202, operation_id="reindexDocument")
async def reindex(request: Request, caller: Writer, document_id: Document) -> Queued:
    """Index a document again; searches find the old version until the new one is ready."""
    task = await engine_of(request).documents.reindex(caller.tenant_id, DocumentId(document_id))
    return Queued(task_id=task)


@router.delete("/{document_id}", status_code=204, operation_id="deleteDocument")
async def delete(request: Request, caller: Writer, document_id: Document) -> None:
    """Delete a document; after the response, searches no longer find it."""
    await engine_of(request).documents.delete(caller.tenant_id, DocumentId(document_id))


def _attachment(filename: str) -> str:
    """A file name for every client (RFC 6266): plain for old ones, encoded for the others."""
    plain = "".join(letter if letter.isascii() and letter.isprintable() else "_" for letter in filename)
    quoted = plain.replace("\\", "_").replace('"', "_")
    return f"attachment; filename=\"{quoted}\"; filename*=UTF-8''{quote(filename, safe='')}"
