"""Clients in a database, from the golden records of HubSpot and QuickBooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import penstock.sources
from penstock.db import Connection
from penstock.model import TenantId, uuid7
from penstock.sources.mapping.facts_json import facts_json
from penstock.sources.mapping.map_file import load_maps
from tests.unit.golden_records import COMPANY, CONTACT, CUSTOMER, DEAL, INVOICE

SOURCES = Path(penstock.sources.__file__).parent
RECORDS: dict[str, dict[str, dict[str, Any]]] = {
    "hubspot": {"hubspot.contact": CONTACT, "hubspot.company": COMPANY, "hubspot.deal": DEAL},
    "quickbooks": {"quickbooks.customer": CUSTOMER, "quickbooks.invoice": INVOICE},
}
NEW_SOURCE = """
insert into ingest.source (source_id, tenant_id, project_id, kind, name, created_at, updated_at)
select $1, $2, p.project_id, $3, $3, now(), now() from accounts.project p where p.tenant_id = $2 limit 1
"""


async def put_records(
    admin: Connection, tenant_id: TenantId, source_id: UUID, records: dict[str, dict[str, Any]]
) -> None:
    """State what the field maps make of these records."""
    kind = next(iter(records)).split(".")[0]
    maps = load_maps(SOURCES / kind / "maps")
    async with admin.transaction():
        await admin.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant_id))
        for document_type, payload in records.items():
            item = maps[document_type].external_id(payload)
            facts = facts_json((item, fact) for fact in maps[document_type].apply(item, payload).facts)
            await admin.execute("select ingest.put_facts($1, $2, $3)", source_id, [item], facts)


async def know_clients(admin: Connection, tenant_id: TenantId) -> dict[str, UUID]:
    """The golden records of both providers; the ids of the sources."""
    sources: dict[str, UUID] = {}
    for kind, records in RECORDS.items():
        sources[kind] = uuid7()
        await admin.execute(NEW_SOURCE, sources[kind], tenant_id, kind)
        await put_records(admin, tenant_id, sources[kind], records)
    return sources
