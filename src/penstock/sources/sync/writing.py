"""Writes a batch of items with its cursor in one transaction; on an error item by item."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from penstock.errors import LeaseLost, PenstockError, QuotaExceeded, TenantClosed
from penstock.model import DocumentId, SourceId, TenantId
from penstock.observe import get_logger
from penstock.sources.errors import SourceError
from penstock.sources.mapping.facts_json import facts_json
from penstock.sources.mapping.mapped import MapFailed
from penstock.sources.sync.items import Batch, ReadItem, as_json
from penstock.sources.sync.records import Known, Record, RecordEmbedder
from penstock.sources.sync.remapping import outdated

if TYPE_CHECKING:
    from penstock.db import Connection
    from penstock.db.tenancy import TenantPool
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.protocol import Checkpoint, Item
    from penstock.sources.sync.job import SyncJob

log = get_logger(__name__)

COMPARE = "select * from ingest.compare_items($1, $2, $3, $4)"
PUT = "select ingest.put_items($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
PUT_DECISIONS = "select ingest.put_decisions($1, $2, $3, $4, $5, $6)"
PUT_FACTS = "select ingest.put_facts($1, $2, $3)"
REMOVE = "select ingest.remove_items($1, $2, $3)"
LOOK = "select ingest.request_looks($1, $2, $3, $4, $5)"
UNSEEN = "select ingest.unseen_items($1, $2)"
MOVE = "select ingest.move_cursor($1, $2, $3, $4, $5, $6, $7)"

ENDS_THE_RUN = (LeaseLost, QuotaExceeded, SourceError, TenantClosed)
"""Errors that are not one item's: writing the others would end the same way."""


class TakeFile(Protocol):
    """Takes the file of an item in, as a document of the source; a protocol, since intake is not below."""

    async def __call__(
        self, tenant_id: TenantId, source_id: SourceId, job: SyncJob, external_id: str, item: Item
    ) -> DocumentId: ...


class ItemWriter:
    """Shared by all syncs of a worker."""

    def __init__(
        self, tenants: TenantPool, embedder: RecordEmbedder, take_file: TakeFile, code_version: str
    ) -> None:
        self._tenants = tenants
        self._embedder = embedder
        self._take_file = take_file
        self._code_version = code_version

    async def write(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        job: SyncJob,
        batch: Batch,
        maps: Mapping[str, FieldMap],
        checkpoint: Checkpoint | None,
        *,
        by_looks: bool = False,
    ) -> int:
        """Write what changed and move the cursor; returns how many texts were embedded.

        With `by_looks` nothing is read here: a task looks at each item that changed.
        """
        unchanged, known = await self._compare(tenant_id, source_id, batch, maps)
        if by_looks:
            await self._have_looked_at(tenant_id, source_id, job, batch, unchanged, checkpoint)
            return 0
        records = []
        for external_id, read in batch.items.items():
            if external_id not in unchanged:
                record = await self._record(tenant_id, source_id, job, batch, read, maps)
                if record is not None:
                    records.append(record)
        return await self._put(
            tenant_id, source_id, job, batch, records, known, sorted(unchanged), checkpoint, is_remap=False
        )

    async def _have_looked_at(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        job: SyncJob,
        batch: Batch,
        unchanged: set[str],
        checkpoint: Checkpoint | None,
    ) -> None:
        """Enqueue the looks in the transaction that moves the cursor past their items."""
        written = _Written(job, source_id, batch.stream, "", self._code_version, False, 0)
        changed = sorted({*batch.items.keys() - unchanged, *batch.gone})
        async with self._tenants.transaction(tenant_id) as conn:
            await written.put(conn, [], sorted(unchanged), batch.failures)
            await conn.execute(LOOK, job.job_id, job.run, batch.stream, changed, False)
            if checkpoint is not None:
                await _move(conn, job, batch.stream, checkpoint)

    async def remap(
        self, tenant_id: TenantId, source_id: SourceId, job: SyncJob, maps: Mapping[str, FieldMap]
    ) -> int:
        """Map again what an older version of a field map made, from the stored payloads.

        Returns how many texts were embedded. An item that cannot be mapped stays as it is and is counted as
        failed.
        """
        embedded = 0
        async for batch, records, known in outdated(self._tenants, tenant_id, source_id, maps):
            embedded += await self._put(
                tenant_id, source_id, job, batch, records, known, [], None, is_remap=True
            )
        return embedded

    async def _put(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        job: SyncJob,
        batch: Batch,
        records: Sequence[Record],
        known: Mapping[str, Known],
        unchanged: Sequence[str],
        checkpoint: Checkpoint | None,
        *,
        is_remap: bool,
    ) -> int:
        """Embed before the transaction opens, then write all in one, or else item by item."""
        model, embedded = await self._embedder.embed(tenant_id, job, records, known)
        written = _Written(job, source_id, batch.stream, model, self._code_version, is_remap, embedded)
        try:
            async with self._tenants.transaction(tenant_id) as conn:
                await written.put(conn, records, unchanged, batch.failures)
                if batch.gone:
                    await conn.execute(REMOVE, job.job_id, job.run, sorted(batch.gone))
                if checkpoint is not None:
                    await _move(conn, job, batch.stream, checkpoint)
        except ENDS_THE_RUN:
            raise
        except PenstockError as error:
            log.warning("batch_redone_item_by_item", stream=batch.stream, reason=error.message)
            await self._one_by_one(tenant_id, written, records, unchanged, batch, checkpoint)
        return embedded

    async def remove_unseen(
        self, tenant_id: TenantId, source_id: SourceId, job: SyncJob, stream: str, *, by_looks: bool = False
    ) -> None:
        """Remove what a full pass did not see, or have it looked at, before its last checkpoint."""
        while True:
            async with self._tenants.transaction(tenant_id) as conn:
                unseen = [row[0] for row in await conn.fetch(UNSEEN, source_id, stream)]
                if not unseen:
                    return
                if by_looks:
                    await conn.execute(LOOK, job.job_id, job.run, stream, sorted(unseen), True)
                else:
                    await conn.execute(REMOVE, job.job_id, job.run, sorted(unseen))

    async def finish_stream(
        self, tenant_id: TenantId, job: SyncJob, stream: str, checkpoint: Checkpoint
    ) -> None:
        async with self._tenants.transaction(tenant_id) as conn:
            await _move(conn, job, stream, checkpoint)

    async def _compare(
        self, tenant_id: TenantId, source_id: SourceId, batch: Batch, maps: Mapping[str, FieldMap]
    ) -> tuple[set[str], Mapping[str, Known]]:
        if not batch.items:
            return set(), {}
        reads = list(batch.items.values())
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            rows = await conn.fetch(
                COMPARE,
                source_id,
                [read.external_id for read in reads],
                [read.sha256 for read in reads],
                [_map_version(read, maps) for read in reads],
            )
        unchanged = {row["external_id"] for row in rows if row["is_unchanged"]}
        known = {
            row["external_id"]: Known(row["embedding_model"], row["embedding_text_sha256"]) for row in rows
        }
        return unchanged, known

    async def _record(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        job: SyncJob,
        batch: Batch,
        read: ReadItem,
        maps: Mapping[str, FieldMap],
    ) -> Record | None:
        """The item's row, or None if it failed."""
        item = read.item
        record = Record(read, _map_version(read, maps))
        try:
            if item.content is not None:
                record.document_id = await self._take_file(tenant_id, source_id, job, read.external_id, item)
            if (field_map := maps.get(item.document_type)) is not None:
                record.map(field_map)
        except MapFailed as failed:
            batch.fail(item.id, "map_failed", failed.message, failed.path)
            return None
        except ENDS_THE_RUN:
            raise
        except PenstockError as failed:
            batch.fail(item.id, type(failed).__name__, failed.message, None)
            return None
        return record

    async def _one_by_one(
        self,
        tenant_id: TenantId,
        written: _Written,
        records: Sequence[Record],
        unchanged: Sequence[str],
        batch: Batch,
        checkpoint: Checkpoint | None,
    ) -> None:
        failures = Batch(batch.stream, failures=list(batch.failures))
        for record in records:
            try:
                async with self._tenants.transaction(tenant_id, durable=False) as conn:
                    await written.put(conn, [record], [], [])
                    written.embedded = 0  # it is counted with the first
            except ENDS_THE_RUN:
                raise
            except PenstockError as error:
                failures.fail(record.read.item.id, type(error).__name__, error.message, None)
        async with self._tenants.transaction(tenant_id) as conn:
            await written.put(conn, [], unchanged, failures.failures)
            if batch.gone:
                await conn.execute(REMOVE, written.job.job_id, written.job.run, sorted(batch.gone))
            if checkpoint is not None:
                await _move(conn, written.job, batch.stream, checkpoint)


class _Written:
    """One call of `ingest.put_items` and `ingest.put_facts`."""

    def __init__(
        self,
        job: SyncJob,
        source_id: SourceId,
        stream: str,
        model: str,
        code_version: str,
        is_remap: bool,
        embedded: int,
    ) -> None:
        self.job = job
        self._is_remap = is_remap
        self.embedded = embedded
        self._source_id = source_id
        self._stream = stream
        self._model = model
        self._code_version = code_version

    async def put(
        self,
        conn: Connection,
        records: Sequence[Record],
        unchanged: Sequence[str],
        failures: Sequence[Mapping[str, Any]],
    ) -> None:
        await conn.execute(
            PUT,
            self.job.job_id,
            self.job.run,
            self._stream,
            json.dumps([record.row(n) for n, record in enumerate(records, 1)]),
            [record.vector for record in records],
            self.job.embedder,
            self._model,
            self._code_version,
            list(unchanged),
            json.dumps(list(failures)),
            self._is_remap,
            self.embedded,
        )
        if records:
            ids = sorted(record.read.external_id for record in records)
            stated = ((record.read.external_id, fact) for record in records for fact in record.facts)
            await conn.execute(PUT_FACTS, self._source_id, ids, facts_json(stated))
        if any(record.read.item.by_content for record in records) or failures:
            await self._put_decisions(conn, records, failures)

    async def _put_decisions(
        self, conn: Connection, records: Sequence[Record], failures: Sequence[Mapping[str, Any]]
    ) -> None:
        dropped = [
            {"external_id": record.read.external_id, **record.read.item.decision}
            for record in records
            if record.read.item.decision is not None
        ]
        kept = sorted(record.read.external_id for record in records if record.document_id is not None)
        await conn.execute(
            PUT_DECISIONS,
            self.job.job_id,
            self.job.run,
            self._stream,
            as_json(dropped),
            kept,
            json.dumps(list(failures)),
        )


async def _move(conn: Connection, job: SyncJob, stream: str, checkpoint: Checkpoint) -> None:
    await conn.execute(
        MOVE,
        job.job_id,
        job.run,
        stream,
        json.dumps(checkpoint.cursor),
        checkpoint.done,
        checkpoint.expected,
        checkpoint.left_out,
    )


def _map_version(read: ReadItem, maps: Mapping[str, FieldMap]) -> int:
    found = maps.get(read.item.document_type)
    return 0 if found is None else found.version
