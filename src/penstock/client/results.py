"""The API's responses as frozen types; fields added by a newer server are ignored."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from penstock.model import DocumentStatus, IngestionStatus

Item = TypeVar("Item")

ENDED = frozenset(
    {DocumentStatus.INDEXED, DocumentStatus.SKIPPED, DocumentStatus.FAILED, DocumentStatus.DELETED}
)
"""Statuses in which a document stays until somebody acts."""


class Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Page(Result, Generic[Item]):
    """Some items, and the cursor of the next ones; no cursor means there are no more."""

    items: list[Item]
    cursor: str | None = None


class Document(Result):
    document_id: UUID
    project_id: UUID
    project: str
    status: DocumentStatus
    reason_code: str | None = None
    error_message: str | None = None
    title: str | None = None
    filename: str | None = None
    path: str | None = None
    mime_type: str
    size_bytes: int
    content_sha256: str
    external_id: str | None = None
    source_id: UUID | None = None
    parent_document_id: UUID | None = None
    author: str | None = None
    language: str | None = None
    document_created_at: datetime | None = None
    document_modified_at: datetime | None = None
    page_count: int | None = None
    parser: str | None = None
    warnings: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    pipeline_config: dict[str, Any] | None = None
    searchable: bool
    chunk_count: int
    token_count: int
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED


class Uploaded(Result):
    """The result of an upload; `document` is set if you waited for it and it finished in time."""

    ingestion_id: UUID
    document_id: UUID
    created: bool
    skipped: bool
    status: IngestionStatus
    document: Document | None = None


class Retried(Result):
    """How many documents matched, and how many of them were queued again."""

    matched: int
    queued: int


class Ingestion(Result):
    """One request to process a document."""

    ingestion_id: UUID
    document_id: UUID
    source_id: UUID | None = None
    uploaded_by: str | None = None
    source_metadata: dict[str, Any] = {}
    status: IngestionStatus
    skip_reason: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    created: bool
    created_at: datetime
    finished_at: datetime | None = None


class Heading(Result):
    """A heading inside a passage: where it starts in the document's text, and its path, itself included."""

    start: int
    path: tuple[str, ...]


class Chunk(Result):
    ordinal: int
    text: str
    token_count: int
    start: int
    end: int
    page_from: int | None = None
    page_to: int | None = None
    heading_path: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    chunk_id: UUID | None = None
    embedding_model: str | None = None


class Event(Result):
    """One line of a document's timeline."""

    event_id: int
    at: datetime
    event: str
    ingestion_id: UUID | None = None
    from_status: DocumentStatus | None = None
    to_status: DocumentStatus | None = None
    reason_code: str | None = None
    message: str | None = None
    detail: dict[str, Any] = {}


class Project(Result):
    project_id: UUID
    slug: str
    name: str
    embedder: str
    next_embedder: str | None = None
    text_config: str
    chunk_strategy: str
    chunk_tokens: int | None = None
    chunk_overlap: int | None = None
    created_at: datetime
    documents: dict[str, int] = {}
    left_behind: int = 0


class ProjectDeleted(Result):
    """A deleted project, with its number of documents; `left` of them are deleted in the background."""

    project_id: UUID
    slug: str
    documents: int
    left: int
    task_id: int | None = None


class SourceSecret(Result):
    """A webhook and the secret that signs its deliveries, shown only once."""

    source_id: UUID
    secret: str | None = Field(default=None, repr=False)
    path: str


class Quota(Result):
    used: int
    limit: int | None = None
    """None: no quota."""


class ModelUsage(Result):
    model: str
    tokens: int
    calls: int
    texts: int
    reused: int


class Usage(Result):
    """Embedding usage in a month, by model, and current usage of documents, stored_bytes and keys."""

    items: tuple[ModelUsage, ...]
    quotas: dict[str, Quota] = {}


class Estimate(Result):
    """What a re-index would embed, and how much of it is already cached."""

    documents: int
    chunks: int
    tokens: int
    cached_chunks: int
    cached_tokens: int
    model: str = ""


class Queued(Result):
    """The task that was enqueued."""

    task_id: int | None


class DeletionRequested(Result):
    """A tenant's deletion has started: its keys no longer work, the token shows the progress."""

    account_id: UUID
    account_deletion_task_id: int
    receipt_token: str | None = Field(default=None, repr=False)
    receipt_url: str | None = Field(default=None, repr=False)


class Deletion(Result):
    """The progress of a deletion, and its receipt once there is one."""

    account_id: UUID
    account_deletion_task_id: int
    status: str
    error: str | None = None
    requested_at: datetime
    files_left: int
    parameters_left: int
    flags: tuple[str, ...] = ()
    receipt: dict[str, Any] | None = None
    receipt_sha256: str | None = None
