"""What the pipeline needs from rooms it does not import; the composition root hands these in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal, Protocol
from uuid import UUID

from penstock.db import Connection
from penstock.model import (
    Attachment,
    Chunk,
    DocumentId,
    Embedder,
    ProjectId,
    TaskId,
    TenantId,
    Vector,
)
from penstock.pipeline.chunk import ChunkPlan
from penstock.pipeline.parse.spool import ParsedFiles


class Run(Protocol):
    """One run of a task; its transaction also closes the lease."""

    @property
    def task_id(self) -> TaskId: ...
    @property
    def attempt(self) -> int: ...
    @property
    def tenant_id(self) -> UUID | None: ...
    def transaction(
        self, *, counts_as: Literal["success", "failed"] = "success"
    ) -> AbstractAsyncContextManager[Connection]: ...


class BlobStore(Protocol):
    async def fetch(self, path: str, to: Path) -> None: ...
    async def delete(self, path: str) -> None: ...


class Parses(Protocol):
    async def parse_to(
        self,
        folder: Path,
        path: Path,
        *,
        mime_type: str,
        filename: str | None,
        by: Literal["auto", "local", "docling"],
        owner: str | None,
    ) -> ParsedFiles:
        """The document's text as files in the folder, or DocumentRejected with a reason code."""

    async def chunk(self, files: ParsedFiles, plan: ChunkPlan, *, owner: str | None) -> int:
        """Write its chunks to `files.chunks` and count them, or DocumentRejected."""


class Embeds(Protocol):
    """Embedders by their name in a project, each behind one batcher for the whole worker."""

    async def embedder(self, name: str) -> Embedder: ...

    async def embed(self, name: str, texts: Sequence[str]) -> tuple[Sequence[Vector], int]:
        """A vector for each text and the tokens they took."""


class Indexes(Protocol):
    async def require(self) -> None:
        """Raise IndexNotReady while it can keep no vectors."""

    async def stage(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        document_id: DocumentId,
        generation: int,
        chunks: Sequence[Chunk],
        vectors: Sequence[Vector],
        model: str,
    ) -> None: ...


class TendsIndex(Protocol):
    async def tend(self) -> None:
        """Sweep old generations, refresh statistics, build or drop vector indexes."""


class TakesAttachments(Protocol):
    async def __call__(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        parent: DocumentId,
        attachment: Attachment,
        metadata: Mapping[str, str],
    ) -> None: ...
