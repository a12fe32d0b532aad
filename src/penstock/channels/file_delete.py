"""Deletes the blob of a file and, with a whole document, what an index outside the database keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from penstock.channels.channel import ProviderFailed, read_request
from penstock.channels.ports import DeletesBlobs, DropsVectors, Run
from penstock.model import DocumentId, TenantId

if TYPE_CHECKING:
    import httpx2

PROVIDER: Final = "file_delete"


class FileDeleteRequest(BaseModel):
    """The before handler's payload."""

    model_config = ConfigDict(frozen=True)

    bucket: str | None = None
    object_key: str = Field(min_length=1)
    document_id: UUID | None = None
    tenant_id: UUID


class FileDeleteChannel:
    """Each step may run twice: what is gone already is as good as deleted."""

    def __init__(
        self, blobs: DeletesBlobs, vectors: DropsVectors, http: httpx2.AsyncClient, *, signed: bool
    ) -> None:
        self._blobs = blobs
        self._vectors = vectors
        self._http = http
        self._signed = signed

    async def call(self, request: Mapping[str, Any], run: Run) -> Mapping[str, Any]:
        wanted = read_request(PROVIDER, FileDeleteRequest, request)
        if wanted.tenant_id != run.tenant_id:
            raise _refused(
                "tenant_id is not the task's own", "Have the before handler read its tenant's files"
            )
        if wanted.bucket is not None:
            raise _refused(
                "bucket is named, and blobs lie in the one of PENSTOCK_BLOB_URL", "Leave bucket null"
            )
        if self._signed:
            await self._blobs.delete_by_signed_url(wanted.object_key, self._http)
        else:
            await self._blobs.delete(wanted.object_key)
        if wanted.document_id is not None:
            await self._vectors.drop_document(TenantId(wanted.tenant_id), DocumentId(wanted.document_id))
        return {"object_key": wanted.object_key, "by": "signed_url" if self._signed else "store"}


def _refused(reason: str, remedy: str) -> ProviderFailed:
    return ProviderFailed(PROVIDER, reason, remedy, retriable=False)
