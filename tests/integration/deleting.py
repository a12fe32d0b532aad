"""What tests of an account's deletion share: short pauses, its end, broken functions, digests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.accounts import Deletion
from penstock.db import Connection
from penstock.model import TenantId
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually

SHORT_BACKOFF = """
create or replace function internal.exponential(
_first interval, _factor double precision, _most interval, _failures integer) returns interval
language sql immutable parallel safe as $$ select interval '50 milliseconds' $$
"""

TENANT_TABLES = """
select c.oid::regclass::text as name
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
join pg_roles r on r.oid = c.relowner and r.rolname in ('penstock_owner', 'penstock_queue')
where c.relkind in ('r', 'p') and not c.relispartition
order by 1
"""


@asynccontextmanager
async def hurried(database: Database, folder: Path, **settings: Any) -> AsyncIterator[Works]:
    """The engine with the pauses of its processes made short."""
    async with database.connect("admin") as admin:
        await admin.execute(SHORT_BACKOFF)
    async with works_on(database, folder, poll_interval=0.2, **settings) as works:
        yield works


async def ended(works: Works, tenant_id: TenantId | None = None, within: float = 60) -> Deletion:
    """The deletion once it succeeded or failed."""
    account_id = tenant_id or works.tenant_id

    async def over() -> bool:
        return (await works.engine.deletions.show(account_id)).status != "running"

    await eventually(over, within=within, every=0.05, what="the deletion ends")
    return await works.engine.deletions.show(account_id)


@asynccontextmanager
async def replaced(database: Database, function: str, body: str) -> AsyncIterator[None]:
    """A function with another body while the block runs."""
    async with database.connect("admin") as admin:
        whole = await admin.fetchval("select pg_get_functiondef($1::regproc)", function)
        head, _, _ = whole.partition("AS $function$")
        await admin.execute(f"{head} AS $function$ {body} $function$")
        try:
            yield
        finally:
            await admin.execute(whole)


async def tenant_tables(admin: Connection) -> list[str]:
    """Every table whose rows belong to tenants, the queue's too."""
    return [row["name"] for row in await admin.fetch(TENANT_TABLES)]


async def digests(admin: Connection, tenant_id: UUID) -> dict[str, tuple[int, str]]:
    """How many rows a tenant has in each table, and a hash over all of them."""
    found = {}
    for table in await tenant_tables(admin):
        row = await admin.fetchrow(
            f"select count(*), md5(coalesce(string_agg(t::text, '|' order by t::text), ''))"
            f" from {table} t where t.tenant_id = $1",
            tenant_id,
        )
        assert row is not None
        if row[0]:
            found[table] = (row[0], row[1])
    return found


async def seen(works: Works, query: str, *arguments: object) -> Any:
    """What a transaction of the tenant reads; the views of facts show nothing outside one."""
    async with works.database.connect("admin") as admin, admin.transaction():
        await admin.execute("select set_config('penstock.tenant_id', $1, true)", str(works.tenant_id))
        return await admin.fetchval(query, *arguments)
