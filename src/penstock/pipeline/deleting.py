"""Removes what a deleted document leaves: blobs, chunks, vectors, embeddings nobody else uses."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.model import DocumentId, TenantId
from penstock.pipeline.ports import BlobStore, Indexes, Run


class DeleteDocument(BaseModel):
    """The payload of `delete-document`."""

    model_config = ConfigDict(frozen=True)

    document_id: DocumentId


class Deleting:
    """The handler; every step may run twice. Searches stopped showing the document when it was deleted."""

    def __init__(self, tenants: TenantPool, blobs: BlobStore, index: Indexes) -> None:
        self._tenants = tenants
        self._blobs = blobs
        self._index = index

    async def __call__(self, payload: DeleteDocument, run: Run) -> None:
        assert run.tenant_id is not None, "a document's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        async with self._tenants.transaction(tenant_id) as conn:
            files = await conn.fetch("select * from ingest.blobs_of($1)", payload.document_id)
        for file in files:
            await self._blobs.delete(file["blob_path"])
        await self._index.drop_document(tenant_id, payload.document_id)
        async with run.transaction() as conn:
            await conn.execute(
                "select ingest.finish_removal($1, $2)",
                payload.document_id,
                [file["file_id"] for file in files],
            )
