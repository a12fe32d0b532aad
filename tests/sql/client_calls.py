"""A connected source in the database, and calls that state facts about its clients."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from penstock.model import uuid7
from tests.sql.document_calls import DocumentCalls, Tenant, tenant_transaction

NEW_SOURCE = """
insert into ingest.source (source_id, tenant_id, project_id, kind, name, created_at, updated_at)
values ($1, $2, $3, $4, $4, now(), now())
"""
CLIENTS = """
select external_id, client_name, industry, summary, key_facts, client_id, updated_at
from ingest.client_intelligence where source_id = $1
"""


@dataclass(frozen=True, slots=True)
class ClientSource:
    """One source of one tenant."""

    calls: DocumentCalls
    tenant: Tenant
    source_id: UUID

    async def put(self, items: Sequence[str], facts: Sequence[Mapping[str, object]]) -> None:
        """Replace all facts of these items."""
        async with tenant_transaction(self.calls.runtime, self.tenant) as connection:
            await connection.execute(
                "select ingest.put_facts($1, $2, $3)", self.source_id, list(items), json.dumps(facts)
            )

    async def drop(self, *items: str) -> None:
        async with tenant_transaction(self.calls.runtime, self.tenant) as connection:
            await connection.execute("select ingest.drop_facts($1, $2)", self.source_id, list(items))

    async def clients(self) -> dict[str, dict[str, Any]]:
        """The rows by external id; numbers in facts are decimals."""
        rows = await self.calls.admin.fetch(CLIENTS, self.source_id)
        return {
            row["external_id"]: dict(row) | {"key_facts": json.loads(row["key_facts"], parse_float=Decimal)}
            for row in rows
        }

    async def facts_of(self, client: str) -> dict[str, Any]:
        facts: dict[str, Any] = (await self.clients())[client]["key_facts"]
        return facts


async def connected(calls: DocumentCalls, tenant: Tenant, kind: str) -> ClientSource:
    source_id = uuid7()
    await calls.admin.execute(NEW_SOURCE, source_id, tenant.tenant_id, tenant.project_id, kind)
    return ClientSource(calls, tenant, source_id)


def fact(item: str, client: str, name: str, value: object, **options: object) -> dict[str, object]:
    return {"item": item, "client": client, "name": name, "value": value, "rollup": "latest"} | options


def company(item: str, name: str, **more: object) -> list[dict[str, object]]:
    """What a company's own item states."""
    named = [fact(item, item, "client_name", name)]
    return named + [fact(item, item, key, value) for key, value in more.items()]


def contact(number: int, name: str, domain: str | None = None) -> list[dict[str, object]]:
    """A record named after its company, with the domain of its email."""
    item = f"contacts/{number}"
    keys = [] if domain is None else [fact(item, item, "key.email_domain", domain, rollup="key")]
    return [fact(item, item, "client_name", name), *keys]


async def grouped(calls: DocumentCalls, tenant: Tenant) -> dict[str, frozenset[UUID]]:
    """The rows of each group after everything was grouped, by the group's id."""
    async with tenant_transaction(calls.runtime, tenant) as connection:
        while await connection.fetchval("select ingest.group_clients(50)") >= 50:
            pass
    rows = await calls.admin.fetch(
        "select group_id::text, array_agg(client_id) as ids from ingest.client_member"
        " where tenant_id = $1 group by 1",
        tenant.tenant_id,
    )
    return {row["group_id"]: frozenset(row["ids"]) for row in rows}
