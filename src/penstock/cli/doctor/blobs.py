"""`penstock doctor --blobs`: compares the blob store with the database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from uuid import UUID

from penstock.blobs.store import Blobs
from penstock.cli import output
from penstock.cli.tenant_session import as_operator
from penstock.db.tenancy import TenantPool
from penstock.settings import Settings

PAGE = 1000
LISTED = 1000
"""Maximum paths listed per kind; the counts are complete."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A live document whose original is not in the store."""

    blob_path: str
    document_id: UUID
    tenant_id: UUID


@dataclass(slots=True)
class Comparison:
    in_store: int = 0
    in_database: int = 0
    unknown_count: int = 0
    missing_count: int = 0
    unknown_paths: list[str] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)

    @property
    def on_the_way(self) -> int:
        """Blobs in the store that the database knows but no live document has."""
        return max(0, self.in_store - self.unknown_count - (self.in_database - self.missing_count))


async def compare_blobs(settings: Settings) -> Comparison:
    """List the whole store, then the database's blobs; nothing is changed on either side.

    The list is kept in a temporary file, so a store of any size needs little memory.
    """
    async with as_operator(settings) as (_, pool):
        blobs = Blobs.open(settings)
        found = Comparison()
        with closing(sqlite3.connect("")) as seen:
            seen.execute("create table seen (path text primary key) without rowid")
            await _read_store(blobs, pool, seen, found)
            await _read_database(blobs, pool, seen, found)
        return found


async def _read_store(blobs: Blobs, pool: TenantPool, seen: sqlite3.Connection, found: Comparison) -> None:
    async for paths in blobs.listed():
        found.in_store += len(paths)
        seen.executemany("insert or ignore into seen values (?)", [(path,) for path in paths])
        async with pool.all_tenants() as conn:
            unknown = [row[0] for row in await conn.fetch("select all_tenants.unknown_blobs($1)", paths)]
        found.unknown_count += len(unknown)
        found.unknown_paths += unknown[: LISTED - len(found.unknown_paths)]


async def _read_database(blobs: Blobs, pool: TenantPool, seen: sqlite3.Connection, found: Comparison) -> None:
    after: UUID | None = None
    while True:
        async with pool.all_tenants() as conn:
            rows = await conn.fetch("select * from all_tenants.known_blobs($1, $2)", after, PAGE)
        for row in rows:
            listed = seen.execute("select 1 from seen where path = ?", (row["blob_path"],)).fetchone()
            # Written after the store was listed: not missing.
            if listed is None and not await blobs.has(row["blob_path"]):
                found.missing_count += 1
                if len(found.missing) < LISTED:
                    found.missing.append(Missing(row["blob_path"], row["document_id"], row["tenant_id"]))
        found.in_database += len(rows)
        if len(rows) < PAGE:
            return
        after = rows[-1]["file_id"]


def show_comparison(found: Comparison, *, as_json: bool) -> None:
    if as_json:
        output.document(
            {
                "in_store": found.in_store,
                "in_database": found.in_database,
                "unknown": {"count": found.unknown_count, "paths": found.unknown_paths},
                "missing": {"count": found.missing_count, "blobs": found.missing},
            }
        )
        return
    for path in found.unknown_paths:
        output.write(f"unknown   {output.cell(path)}")
    for each in found.missing:
        output.write(f"missing   {each.blob_path}  document {each.document_id}  tenant {each.tenant_id}")
    output.write(
        f"The store has {output.count(found.in_store, 'blob')}, the database {found.in_database:,}: "
        f"{found.unknown_count:,} in the store are unknown to this database, "
        f"{found.missing_count:,} of its documents are missing from the store."
    )
    if found.on_the_way:
        output.write(
            f"{found.on_the_way:,} in the store: uploads in progress or interrupted, and originals that were "
            "replaced or deleted; a worker removes what is not used."
        )
    if found.unknown_count:
        output.write(
            "→ Unknown blobs may belong to another database that shares this store, or were written "
            "after the backup this database was restored from. Penstock does not remove them."
        )
    if found.missing_count:
        output.write("→ Restore the missing blobs from a backup, or upload the documents again.")
