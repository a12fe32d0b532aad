"""A source's kind is a row: a new provider needs no change of a type."""

from __future__ import annotations

from uuid import UUID

import asyncpg
import pytest

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, document_calls

FOLDER = "insert into internal.source_kind (kind, title, identity) values ('dropbox', 'Dropbox', 'item')"


async def connect_source(calls: DocumentCalls, tenant: Tenant, kind: str, name: str) -> UUID:
    source_id = uuid7()
    await calls.admin.execute(
        "insert into ingest.source (source_id, tenant_id, project_id, kind, name, created_at, updated_at)"
        " values ($1, $2, $3, $4, $5, now(), now())",
        source_id,
        tenant.tenant_id,
        tenant.project_id,
        kind,
        name,
    )
    return source_id


async def test_a_new_provider_is_a_row(database: Database) -> None:
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("mill")
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await connect_source(calls, tenant, "dropbox", "too early")
        await calls.admin.execute(FOLDER)
        await connect_source(calls, tenant, "dropbox", "ours")
        (listed,) = await calls.rows(tenant, "ingest.list_sources")
        assert '"kind": "dropbox"' in listed[0]


async def test_the_kind_decides_where_an_external_id_is_unique(database: Database) -> None:
    """Of a connected source within the source, of a webhook within the project."""
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("mill")
        await calls.admin.execute(FOLDER)
        first = await connect_source(calls, tenant, "dropbox", "first")
        second = await connect_source(calls, tenant, "dropbox", "second")
        webhook = await calls.webhook(tenant)
        known = {
            await calls.document(tenant, b"one", external_id="7", source_id=source_id)
            for source_id in (first, second, first, webhook)
        }
        assert len(known) == 3
        assert await calls.document(tenant, b"one", external_id="7") in known, (
            "an upload shares it with the webhook"
        )
