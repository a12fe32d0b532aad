"""Document intake: hash, detect the type, insert or reuse, write the blob, enqueue, in one transaction."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from penstock.blobs.intents import Intent, Intents
from penstock.blobs.spool import Spooled, spool
from penstock.blobs.store import Blobs
from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.documents.rows import Taken
from penstock.errors import InvalidArgument, InvalidMove
from penstock.model import DocumentId, ProjectId, SourceId, TenantId, uuid7
from penstock.model.media import extension
from penstock.model.rows import row_from
from penstock.model.sniffing import sniff
from penstock.observe import get_logger
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.documents.pipeline_config import PipelineConfig

log = get_logger(__name__)

TAKE_IN = (
    "select ingest.take_in($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"
)
PUT_CONTENT = "select ingest.put_content($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
LONGEST_NAME = 512


class Intake:
    """Shared by uploads, webhooks, attachments and sources. `code_version` is that of parsers and chunker."""

    def __init__(self, tenants: TenantPool, blobs: Blobs, settings: Settings, code_version: str) -> None:
        self._tenants = tenants
        self._blobs = blobs
        self._intents = Intents(tenants)
        self._settings = settings
        self._code_version = code_version

    async def take_in(
        self,
        tenant_id: TenantId,
        content: AsyncIterable[bytes] | Spooled,
        *,
        project: str | ProjectId = "default",
        filename: str | None = None,
        declared_type: str | None = None,
        uploaded_by: str | None = None,
        source_id: SourceId | None = None,
        source_metadata: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        external_id: str | None = None,
        pipeline_config: PipelineConfig | None = None,
        parent_document_id: DocumentId | None = None,
        max_bytes: int | None = None,
        replay: tuple[SourceId, bytes] | None = None,
        retry_failed: bool = True,
        within: Callable[[Connection, Taken], Awaitable[None]] | None = None,
    ) -> Taken:
        """Accept a document. `replay` identifies a webhook delivery: a repeated one is rejected.

        `within` is called last in the transaction that takes it in, to write what belongs to it.

        The `external_id` is its identity or, without one, its content. Without `retry_failed`, unchanged
        content that failed for good is not retried, and the result's status is `failed`.
        """
        noted = dict(source_metadata or {})
        if filename:
            noted.setdefault("filename", _short(filename))
        async with self._spooled(tenant_id, content, max_bytes) as spooled:
            _assert_not_empty(spooled)
            mime_type = sniff(spooled.head, filename=filename, declared=declared_type)
            async with self._intents.take(tenant_id) as intent, self._tenants.transaction(tenant_id) as conn:
                if replay is not None and not await conn.fetchval(
                    "select ingest.note_webhook($1, $2)", *replay
                ):
                    raise InvalidArgument(
                        "this delivery was already received",
                        "webhook-signature",
                        "Sign each delivery with its own id and time.",
                    )
                row = await conn.fetchval(
                    TAKE_IN,
                    uuid7(),
                    uuid7(),
                    intent.file_id,
                    str(project),
                    spooled.sha256,
                    spooled.size,
                    mime_type,
                    extension(mime_type),
                    self._code_version,
                    _short(filename),
                    uploaded_by,
                    source_id,
                    json.dumps(noted),
                    None if metadata is None else json.dumps(metadata),
                    external_id,
                    None if pipeline_config is None else pipeline_config.model_dump_json(exclude_none=True),
                    parent_document_id,
                    retry_failed,
                )
                taken = await self._store(row, spooled, intent)
                if within is not None:
                    await within(conn, taken)
                return taken

    async def replace(
        self,
        tenant_id: TenantId,
        document_id: DocumentId,
        content: AsyncIterable[bytes] | Spooled,
        *,
        filename: str | None = None,
        declared_type: str | None = None,
        uploaded_by: str = "api",
        max_bytes: int | None = None,
    ) -> Taken:
        """Replace a document's content; the old version stays searchable until the new one is indexed."""
        async with self._spooled(tenant_id, content, max_bytes) as spooled:
            _assert_not_empty(spooled)
            mime_type = sniff(spooled.head, filename=filename, declared=declared_type)
            async with self._intents.take(tenant_id) as intent, self._tenants.transaction(tenant_id) as conn:
                row = await conn.fetchval(
                    PUT_CONTENT,
                    document_id,
                    uuid7(),
                    intent.file_id,
                    spooled.sha256,
                    spooled.size,
                    mime_type,
                    extension(mime_type),
                    self._code_version,
                    _short(filename),
                    uploaded_by,
                    json.dumps({} if filename is None else {"filename": _short(filename)}),
                )
                return await self._store(row, spooled, intent)

    def _spooled(
        self, tenant_id: TenantId, content: AsyncIterable[bytes] | Spooled, max_bytes: int | None
    ) -> AbstractAsyncContextManager[Spooled]:
        if isinstance(content, Spooled):
            return nullcontext(content)  # the caller spooled it: form fields may come after the file
        return spool(content, limit=min(max_bytes or self._settings.max_upload_bytes, 5_000_000_000))

    async def _store(self, row: str, spooled: Spooled, intent: Intent) -> Taken:
        """Write the blob while the transaction is open, so that it commits only what is in the store."""
        answer = json.loads(row)
        if answer["write_blob"]:
            intent.used = True  # from here on the blob may exist
            if answer["blob_path"] != intent.path:
                raise InvalidMove(
                    f"the reservation of {intent.path} is no longer in the database",
                    "file",
                    "Send the document again.",
                )
            await self._blobs.write(answer["blob_path"], spooled)
        taken = row_from(Taken, answer)
        log.info(
            "document_taken_in",
            document_id=str(taken.document_id),
            created=taken.created,
            skipped=taken.skipped,
            size=spooled.size,
        )
        return taken


def _assert_not_empty(spooled: Spooled) -> None:
    if spooled.size == 0:
        raise InvalidArgument("the document is empty", "file", "Send a file that is not empty.")


def _short(filename: str | None) -> str | None:
    return None if filename is None else filename.replace("\x00", "")[-LONGEST_NAME:]
