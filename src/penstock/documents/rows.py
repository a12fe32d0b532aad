"""Documents, ingestions and their timeline as the database returns them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from penstock.model import DocumentId, DocumentStatus, IngestionId, IngestionStatus, ProjectId, SourceId

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The result of an intake."""

    ingestion_id: IngestionId
    document_id: DocumentId
    created: bool
    """False: a document with this external id or, without an id, with this content already existed."""
    skipped: bool
    """True: it is already indexed with the current pipeline; nothing will run."""
    status: IngestionStatus
    task_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    document_id: DocumentId
    project_id: ProjectId
    project: str
    status: DocumentStatus
    reason_code: str | None
    error_message: str | None
    title: str | None
    filename: str | None
    path: str | None
    """The original path of its file, if known."""
    mime_type: str
    size_bytes: int
    content_sha256: str
    external_id: str | None
    source_id: SourceId | None
    parent_document_id: DocumentId | None
    author: str | None
    language: str | None
    document_created_at: datetime | None
    document_modified_at: datetime | None
    page_count: int | None
    parser: str | None
    warnings: list[str]
    metadata: dict[str, Any]
    pipeline_config: dict[str, Any] | None
    searchable: bool
    """Whether a generation is live, also while a newer one is being built."""
    fallback_embedder: str | None = None
    """The fallback model it is indexed with because its project's model was unavailable."""
    chunk_count: int
    token_count: int
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None

    @property
    def name(self) -> str:
        """A name for display: its path, or else its file name or title."""
        return self.path or self.filename or self.title or str(self.document_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """A document by its external id."""

    document_id: DocumentId
    external_id: str
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingestion:
    ingestion_id: IngestionId
    document_id: DocumentId
    source_id: SourceId | None
    uploaded_by: str | None
    source_metadata: dict[str, Any]
    status: IngestionStatus
    skip_reason: str | None
    error_code: str | None
    error_message: str | None
    created: bool
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    event_id: int
    document_id: DocumentId
    ingestion_id: IngestionId | None
    at: datetime
    event: str
    from_status: DocumentStatus | None
    to_status: DocumentStatus | None
    reason_code: str | None
    message: str | None
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkHeading:
    """A heading inside a chunk: where it starts in the document's text, and its path, itself included."""

    start: int
    path: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    chunk_id: UUID
    ordinal: int
    text: str
    token_count: int
    start: int
    end: int
    page_from: int | None
    page_to: int | None
    heading_path: list[str]
    """The headings above its first words."""
    headings: list[ChunkHeading]
    """Every heading inside it, in order."""
    embedding_model: str | None
    embedding_text_sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitReason:
    reason: str
    explanation: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A document's state, what it is waiting for, and its timeline."""

    document_id: DocumentId
    path: str | None
    filename: str | None
    title: str | None
    status: DocumentStatus
    reason_code: str | None
    error_message: str | None
    searchable: bool
    task_id: int | None
    open_ingestions: int
    waits_for: list[WaitReason]
    events: list[Event]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a re-index would embed, and how much of it is cached."""

    documents: int
    chunks: int
    tokens: int
    cached_chunks: int
    cached_tokens: int
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some rows and the cursor of the next page; no cursor means the last page."""

    items: list[T]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusCount:
    """How many documents are in a status; `approximate`: it is an estimate."""

    status: DocumentStatus
    total: int
    approximate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A page of documents. With a text to look for it may be empty and still have a cursor.

    `total` is how many match, if that was asked for; `approximate`: it is an estimate.
    """

    items: list[Document]
    cursor: str | None
    total: int | None = None
    approximate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """Where a chunk is in its document's text."""

    ordinal: int
    start: int
    end: int
    page_from: int | None
    page_to: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """A part of a document's parsed text, from `start` to `end`, and the chunks in it.

    `length` is that of the whole text.
    """

    document_id: DocumentId
    start: int
    end: int
    length: int
    text: str
    chunks: list[TextChunk]


@dataclass(frozen=True, slots=True)
class Content:
    """A document's original."""

    stream: AsyncIterator[bytes]
    size: int
    mime_type: str
    filename: str | None
    sha256: str


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """Where a document's original is stored; a record of a source has no blob."""

    blob_path: str | None
    mime_type: str
    sha256: str
