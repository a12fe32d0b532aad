"""What the channels need from rooms they do not import; the composition root hands these in."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from penstock.db import Connection, Pool
from penstock.model import DocumentId, TaskId, TenantId

if TYPE_CHECKING:
    import httpx2


class Run(Protocol):
    """One run of a task; its transaction also closes the lease."""

    @property
    def task_id(self) -> TaskId: ...
    @property
    def tenant_id(self) -> UUID | None: ...
    def transaction(self) -> AbstractAsyncContextManager[Connection]: ...
    async def complete_by(self, pool: Pool, statement: str, *arguments: object) -> Any: ...


class DeletesBlobs(Protocol):
    """Where originals are kept; a blob that is gone already is as good as deleted."""

    async def delete(self, path: str) -> None: ...
    async def delete_by_signed_url(self, path: str, http_client: httpx2.AsyncClient) -> None: ...


class DropsVectors(Protocol):
    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        """Remove all that the index keeps of a document."""
