"""What a page about one document shows: timeline, parsed text, pages as pictures, a safe preview."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Caller
from penstock.api.guarded import GuardedRoute, StreamedRoute
from penstock.api.identity import engine_of
from penstock.api.parameters import Document, Reader
from penstock.api.problem import HttpRefused
from penstock.documents.rows import TextChunk
from penstock.documents.timeline import Span, SpanVersions
from penstock.model import DocumentId
from penstock.pipeline.page_images import Original
from penstock.pipeline.reasons import remedy_of

router = APIRouter(route_class=GuardedRoute, tags=["Documents"], prefix="/v1/documents")
pictures = APIRouter(route_class=StreamedRoute, tags=["Documents"], prefix="/v1/documents")

PDF: Final = "application/pdf"
SHOWN_AS_THEY_ARE: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
"""Pictures that run nothing; a drawing in SVG may."""
SHOWN_AS_TEXT: Final = frozenset(
    {"application/json", "application/xml", "application/csv", "message/rfc822", "image/svg+xml"}
)
SAFE: Final = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, max-age=300",
}
_PICTURE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The page as a PNG.",
        "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_PREVIEW: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "A picture or plain text.",
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}
Width = Annotated[int, Query(ge=64, le=2_000, description="Pixels across.")]


class TimelineItem(BaseModel):
    """A stretch of work or waiting, or one moment; one that lasts has no `to` yet."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["work", "wait", "event"]
    stage: str
    since: datetime = Field(serialization_alias="from")
    until: datetime | None = Field(serialization_alias="to")
    seconds: float
    attempt: int | None
    worker: str | None
    reason_code: str | None
    message: str | None
    remedy: str | None
    versions: SpanVersions


class Timeline(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: list[TimelineItem]


class ParsedText(BaseModel):
    """A part of the parsed text and the chunks in it; `length` is that of the whole."""

    model_config = ConfigDict(frozen=True)

    document_id: UUID
    start: int = Field(serialization_alias="from")
    end: int = Field(serialization_alias="to")
    length: int
    text: str
    chunks: list[TextChunk]


class PageSize(BaseModel):
    """A page, from 1, and its size in points of 1/72 inch."""

    model_config = ConfigDict(frozen=True)

    page: int
    width: float
    height: float


class PageSizes(BaseModel):
    """The pages that can be drawn; empty for a document that is not a PDF."""

    model_config = ConfigDict(frozen=True)

    items: list[PageSize]


@router.get("/{document_id}/timeline", operation_id="getTimeline")
async def timeline(request: Request, caller: Reader, document_id: Document) -> Timeline:
    """Show what happened to a document, working and waiting told apart, with the remedy for every error."""
    spans = await engine_of(request).documents.timeline(caller.tenant_id, DocumentId(document_id))
    return Timeline(items=[_item(span) for span in spans])


@router.get("/{document_id}/text", operation_id="getText")
async def text(
    request: Request,
    caller: Reader,
    document_id: Document,
    since: Annotated[int, Query(alias="from", ge=0, le=2_000_000_000, description="First character.")] = 0,
    until: Annotated[
        int | None,
        Query(alias="to", ge=0, le=2_000_000_000, description="The character after the last one."),
    ] = None,
) -> ParsedText:
    """Show the parsed text of a document, at most 200,000 characters per call."""
    found = await engine_of(request).documents.text(caller.tenant_id, DocumentId(document_id), since, until)
    return ParsedText(
        document_id=found.document_id,
        start=found.start,
        end=found.end,
        length=found.length,
        text=found.text,
        chunks=found.chunks,
    )


@router.get("/{document_id}/pages", operation_id="listPages")
async def pages(request: Request, caller: Reader, document_id: Document) -> PageSizes:
    """List the pages of a PDF with their sizes."""
    original = await _pdf(request, caller, document_id)
    if original is None:
        return PageSizes(items=[])
    sizes = await engine_of(request).page_images.sizes(original)
    return PageSizes(
        items=[
            PageSize(page=number, width=width, height=height)
            for number, (width, height) in enumerate(sizes, start=1)
        ]
    )


@pictures.get(
    "/{document_id}/pages/{page}", response_class=Response, responses=_PICTURE, operation_id="getPage"
)
async def page(
    request: Request,
    caller: Reader,
    document_id: Document,
    page: Annotated[int, Path(ge=1, le=100_000, description="The page, from 1.")],
    width: Width = 1_000,
) -> Response:
    """Draw one page of a PDF as a PNG, at most 2,000 pixels in either direction."""
    original = await _pdf(request, caller, document_id)
    if original is None:
        raise _no_picture("only pages of PDFs can be drawn")
    drawn = await engine_of(request).page_images.page(original, page, width)
    return Response(drawn, media_type="image/png", headers=SAFE)


@pictures.get(
    "/{document_id}/preview", response_class=Response, responses=_PREVIEW, operation_id="getPreview"
)
async def preview(request: Request, caller: Reader, document_id: Document, width: Width = 1_000) -> Response:
    """Show the original in a form no browser runs: the first page of a PDF, a picture, or plain text."""
    engine = engine_of(request)
    original = await engine.documents.original(caller.tenant_id, DocumentId(document_id))
    kind = original.mime_type.partition(";")[0].strip().lower()
    if kind == PDF and original.blob_path is not None:
        drawn = await engine.page_images.page(
            _original(caller, original.blob_path, original.sha256), 1, width
        )
        return Response(drawn, media_type="image/png", headers=SAFE)
    if kind in SHOWN_AS_THEY_ARE:
        shown = kind
    elif kind.startswith("text/") or kind in SHOWN_AS_TEXT or kind.endswith(("+json", "+xml")):
        shown = "text/plain; charset=utf-8"
    else:
        raise _no_picture(f"there is no preview of {kind}")
    content = await engine.documents.content(caller.tenant_id, DocumentId(document_id))
    return StreamingResponse(
        content.stream, media_type=shown, headers={**SAFE, "Content-Length": str(content.size)}
    )


async def _pdf(request: Request, caller: Caller, document_id: UUID) -> Original | None:
    """Where the file is, if it is a PDF."""
    found = await engine_of(request).documents.original(caller.tenant_id, DocumentId(document_id))
    if found.blob_path is None or found.mime_type.partition(";")[0].strip().lower() != PDF:
        return None
    return _original(caller, found.blob_path, found.sha256)


def _original(caller: Caller, blob_path: str, sha256: str) -> Original:
    return Original(owner=str(caller.tenant_id), blob_path=blob_path, content_sha256=sha256)


def _no_picture(why: str) -> HttpRefused:
    return HttpRefused(
        "unsupported-media-type",
        f"The document cannot be shown: {why}",
        "Read its parsed text at …/text, or download it at …/content",
        field="document_id",
    )


def _item(span: Span) -> TimelineItem:
    return TimelineItem(
        kind=span.kind,
        stage=span.stage,
        since=span.start,
        until=span.end,
        seconds=span.seconds,
        attempt=span.attempt,
        worker=span.worker,
        reason_code=span.reason_code,
        message=span.message,
        remedy=remedy_of(span.reason_code),
        versions=span.versions,
    )
