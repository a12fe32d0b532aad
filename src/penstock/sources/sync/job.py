"""What a sync has to do, as `ingest.begin_sync` returns it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.model import ProjectId, SourceId

MAX_ATTEMPTS = 5


class SyncSource(BaseModel):
    """The payload of `sync-source`."""

    model_config = ConfigDict(frozen=True)

    source_id: SourceId


class SyncJob(BaseModel):
    """`run` belongs to this worker: what it writes is rejected once another one has continued the sync."""

    model_config = ConfigDict(frozen=True)

    job_id: UUID
    run: int
    is_full: bool
    is_untouched: bool
    """Nothing of this source has been written yet."""
    estimated_tokens: int | None
    last_code: str | None
    """What the run before waited for."""
    kind: str
    name: str
    account: str | None
    config: dict[str, Any]
    has_token: bool
    password_id: UUID | None = None
    """The secret that holds the password of a source that logs in with one."""
    project_id: ProjectId
    embedder: str
    chunk_tokens: int | None
