"""What a run of a document has to do, as `ingest.begin_run` and `ingest.begin_bulk_document` return it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from penstock.model import DocumentId, ProjectId, SourceId, TenantId
from penstock.model.pipeline_options import ParserName, Strategy

MAX_ATTEMPTS = 3


class IngestDocument(BaseModel):
    """The payload of `ingest-document`."""

    model_config = ConfigDict(frozen=True)

    document_id: DocumentId


class Job(BaseModel):
    """`generation` belongs to this run: its later calls are rejected once another run has begun."""

    model_config = ConfigDict(frozen=True)

    tenant_id: TenantId
    mode: Literal["index", "stage"]
    """Index it now, or stage it for a shard that publishes all its documents at once."""
    generation: int
    pipeline: str
    document_id: DocumentId
    project_id: ProjectId
    project: str
    embedder: str
    is_fallback: bool = False
    """The project's embedder has been unavailable for too long; this run uses the fallback."""
    switches: bool = False
    """It is staged for an embedder that the project is about to switch to."""
    is_probe: bool = False
    """This run tries an unavailable embedder again."""
    text_config: str
    chunk_strategy: Strategy
    chunk_tokens: int | None
    chunk_overlap: int | None
    parser: ParserName
    content_sha256: str
    size_bytes: int
    mime_type: str
    filename: str | None
    parent_document_id: DocumentId | None
    source_id: SourceId | None = None
    is_restored: bool = False
    """A person wants this document, whatever a classifier says."""
    metadata: dict[str, Any]
    blob_path: str | None
    text: str | None = None
    """A record's own text; it has no file."""

    @property
    def depth(self) -> int:
        """How many files are around this one."""
        found = self.metadata.get("depth", 0)
        return found if isinstance(found, int) and not isinstance(found, bool) else 0
