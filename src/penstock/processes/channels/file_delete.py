"""Deletes the blob of a file and, for a whole document, its points in an external index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from penstock.model import DocumentId, TenantId
from penstock.processes.channels.channel import ProviderFailed, read_request
from penstock.processes.channels.names import ChannelName
from penstock.queue.task_run import TaskRun

if TYPE_CHECKING:
    import httpx2

    from penstock.blobs.store import Blobs
    from penstock.index import Index

PROVIDER: Final = ChannelName.FILE_DELETE.value


class FileDeleteRequest(BaseModel):
    """The before handler's payload."""

    model_config = ConfigDict(frozen=True)

    bucket: str | None = None
    object_key: str = Field(min_length=1)
    document_id: UUID | None = None
    tenant_id: UUID


class FileDeleteChannel:
    """Each step may run twice: something already gone counts as deleted."""

    def __init__(self, blobs: Blobs, vectors: Index, http: httpx2.AsyncClient, *, signed: bool) -> None:
        self._blobs = blobs
        self._vectors = vectors
        self._http = http
        self._signed = signed

    async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
        wanted = read_request(PROVIDER, FileDeleteRequest, request)
        if wanted.tenant_id != run.tenant_id:
            raise _refused(
                "tenant_id is not the task's own", "Have the before handler read its tenant's files"
            )
        if wanted.bucket is not None:
            raise _refused("bucket is set, but blobs are in that of PENSTOCK_BLOB_URL", "Leave bucket null")
        if self._signed:
            await self._blobs.delete_by_signed_url(wanted.object_key, self._http)
        else:
            await self._blobs.delete(wanted.object_key)
        if wanted.document_id is not None:
            await self._vectors.drop_document(TenantId(wanted.tenant_id), DocumentId(wanted.document_id))
        return {"object_key": wanted.object_key, "by": "signed_url" if self._signed else "store"}


def _refused(reason: str, remedy: str) -> ProviderFailed:
    return ProviderFailed(PROVIDER, reason, remedy, retriable=False)
