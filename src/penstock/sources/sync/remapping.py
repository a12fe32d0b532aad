"""Finds items that an older version of their field map made, and maps their stored payloads again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from penstock.model import SourceId, TenantId
from penstock.sources.mapping.mapped import MapFailed
from penstock.sources.protocol import Item
from penstock.sources.sync.items import Batch, ReadItem
from penstock.sources.sync.records import Known, Record

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.sources.mapping.field_map import FieldMap

OUTDATED = "select * from ingest.outdated_items($1, $2, $3, $4)"

Remapped = tuple[Batch, Sequence[Record], Mapping[str, Known]]


async def outdated(
    tenants: TenantPool, tenant_id: TenantId, source_id: SourceId, maps: Mapping[str, FieldMap]
) -> AsyncIterator[Remapped]:
    """Batches of one stream each: those that failed, the others' records, and what was embedded of them."""
    types, versions = list(maps), [field_map.version for field_map in maps.values()]
    after = None
    while maps:
        async with tenants.transaction(tenant_id, durable=False) as conn:
            rows = await conn.fetch(OUTDATED, source_id, types, versions, after)
        if not rows:
            return
        after = rows[-1]["external_id"]
        for stream, found in groupby(rows, key=lambda row: str(row["stream"])):
            yield _batch(stream, list(found), maps)


def _batch(stream: str, rows: Sequence[Any], maps: Mapping[str, FieldMap]) -> Remapped:
    batch, records, known = Batch(stream), [], {}
    for row in rows:
        field_map = maps[row["document_type"]]
        record = Record(_read(row, stream), field_map.version, document_id=row["file_id"])
        known[row["external_id"]] = Known(row["embedding_model"], row["embedding_text_sha256"])
        try:
            record.map(field_map)
        except MapFailed as failed:
            batch.fail(record.read.item.id, "map_failed", failed.message, failed.path)
        else:
            records.append(record)
    return batch, records, known


def _read(row: Any, stream: str) -> ReadItem:
    """As the provider gave it; its hash stays, so that the next sync finds it unchanged."""
    item = Item(
        id=row["external_id"].removeprefix(f"{stream}/"),
        document_type=row["document_type"],
        payload={},
        version=row["version"],
        created_at=row["source_created_at"],
        updated_at=row["source_updated_at"],
    )
    return ReadItem(row["external_id"], item, row["payload"], row["payload_sha256"])
