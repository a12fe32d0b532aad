"""What a run of a document is to do, as `ingest.begin_run` answers it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from penstock.model import DocumentId, ProjectId
from penstock.pipeline.chunk.plan import Strategy

MAX_ATTEMPTS = 3


class IngestDocument(BaseModel):
    """The payload of `ingest-document`."""

    model_config = ConfigDict(frozen=True)

    document_id: DocumentId


class Job(BaseModel):
    """`generation` is this run's alone: its later calls are refused once another run began."""

    model_config = ConfigDict(frozen=True)

    mode: Literal["index", "stage"]
    generation: int
    pipeline: str
    document_id: DocumentId
    project_id: ProjectId
    project: str
    embedder: str
    is_fallback: bool = False
    """The project's own embedder has been unavailable too long; this run uses the fallback."""
    is_probe: bool = False
    """This run is the one that tries an unavailable embedder again."""
    text_config: str
    chunk_strategy: Strategy
    chunk_tokens: int | None
    chunk_overlap: int | None
    parser: Literal["auto", "local", "docling"]
    content_sha256: str
    size_bytes: int
    mime_type: str
    filename: str | None
    parent_document_id: DocumentId | None
    metadata: dict[str, Any]
    blob_path: str
