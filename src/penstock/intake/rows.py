"""Documents, ingestions and their timeline as the database answers them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from penstock.model import DocumentId, DocumentStatus, IngestionId, IngestionStatus, ProjectId, SourceId

T = TypeVar("T")


class Row(BaseModel):
    # Built at the first use: most commands read one or two kinds of rows.
    model_config = ConfigDict(frozen=True, defer_build=True)


class Taken(Row):
    """What became of content that was handed in."""

    ingestion_id: IngestionId
    document_id: DocumentId
    created: bool
    """False: the document was there: one with this external id or, without an id, with this content."""
    skipped: bool
    """True: it is indexed already, with today's pipeline; nothing will run."""
    status: IngestionStatus
    task_id: int | None


class Document(Row):
    document_id: DocumentId
    project_id: ProjectId
    project: str
    status: DocumentStatus
    reason_code: str | None
    error_message: str | None
    title: str | None
    filename: str | None
    path: str | None
    """Where the file was that it came from, if somebody said."""
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
    """A generation is live; true also while a newer one is made."""
    fallback_embedder: str | None = None
    """The model it is indexed with because its project's own was unavailable."""
    chunk_count: int
    token_count: int
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None

    @property
    def name(self) -> str:
        """What tells it apart for a reader: where it was, or else what it is called."""
        return self.path or self.filename or self.title or str(self.document_id)


class External(Row):
    """A document by the name its owner gave it."""

    document_id: DocumentId
    external_id: str
    path: str | None


class Ingestion(Row):
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


class Event(Row):
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


class ChunkRow(Row):
    chunk_id: UUID
    ordinal: int
    text: str
    token_count: int
    start: int
    end: int
    page_from: int | None
    page_to: int | None
    heading_path: list[str]
    embedding_model: str | None
    embedding_text_sha256: str | None


class Reason(Row):
    reason: str
    explanation: str
    remedy: str


class Explanation(Row):
    """Where a document is, what it waits for, and how it came there."""

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
    waits_for: list[Reason]
    events: list[Event]


class Estimate(Row):
    """What a re-index would embed, and how much of it is cached."""

    documents: int
    chunks: int
    tokens: int
    cached_chunks: int
    cached_tokens: int
    model: str = Field(default="")


class Page(BaseModel, Generic[T]):
    """Some rows and where the next ones begin; no cursor means these were the last."""

    model_config = ConfigDict(frozen=True)

    items: list[T]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Content:
    """A document's original."""

    stream: AsyncIterator[bytes]
    size: int
    mime_type: str
    filename: str | None
    sha256: str
