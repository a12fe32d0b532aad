"""Doctor's queries about the server: version, autovacuum, the notification queue, visible statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.db.types import Connection

FACTS = """
  select
    current_setting('server_version') as version,
    current_setting('server_version_num')::integer as version_number,
    current_setting('autovacuum') = 'on' as autovacuum,
    pg_notification_queue_usage() as notification_usage,
    session_user::text as login,
    (select e.extversion from pg_extension as e where e.extname = 'vector') as vector_version
"""

NOT_VACUUMED = """
  select n.nspname || '.' || c.relname as name
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = 'queues' and c.relkind = 'r'
    and exists (
      select from unnest(c.reloptions) as o (setting)
      where o.setting in ('autovacuum_enabled=false', 'autovacuum_enabled=off'))
  order by 1
"""

SEES_SESSIONS = """
  select coalesce(bool_or(pg_has_role(r.oid, 'pg_read_all_stats', 'usage')), false)
  from pg_roles as r
  where r.rolname = 'penstock_queue'
"""


KNOWS_COLLECTIONS = "select to_regprocedure('search.vector_collections()') is not null"
KNOWS_EMBEDDERS = "select to_regprocedure('all_tenants.embedders_in_use()') is not null"
KNOWS_REMEDY = "select to_regprocedure('ingest.vectors_remedy()') is not null"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    version: str
    version_number: int
    autovacuum: bool
    notification_usage: float
    login: str
    vector_version: str | None
    """The version of pgvector, if installed."""
    vectors_remedy: str | None
    """What to do if it is not."""
    collections: Mapping[str, str]
    """In an index outside the database, by model."""
    indexed_chunks: int
    """About how many chunks are live."""
    embedders: tuple[str, ...]
    """Those that projects use, or are about to switch to."""
    not_vacuumed: tuple[str, ...]
    sees_sessions: bool


async def read_facts(connection: Connection) -> ServerFacts:
    """Any login may read these."""
    row = await connection.fetchrow(FACTS)
    assert row is not None
    tables = await connection.fetch(NOT_VACUUMED)
    remedy: str | None = None
    if row["vector_version"] is None and await connection.fetchval(KNOWS_REMEDY):
        remedy = await connection.fetchval("select ingest.vectors_remedy()")
    collections: dict[str, str] = {}
    chunks = 0
    if await connection.fetchval(KNOWS_COLLECTIONS):
        rows = await connection.fetch("select model, collection from search.vector_collections()")
        collections = {found["model"]: found["collection"] for found in rows}
        chunks = await connection.fetchval("select all_tenants.indexed_chunks()")
    embedders: list[str] = []
    if await connection.fetchval(KNOWS_EMBEDDERS):
        used = await connection.fetch("select all_tenants.embedders_in_use() as embedder")
        embedders = [found["embedder"] for found in used]
    sees: bool = await connection.fetchval(SEES_SESSIONS)
    return ServerFacts(
        version=row["version"],
        version_number=row["version_number"],
        autovacuum=row["autovacuum"],
        notification_usage=row["notification_usage"],
        login=row["login"],
        vector_version=row["vector_version"],
        vectors_remedy=remedy,
        collections=collections,
        indexed_chunks=chunks,
        embedders=tuple(embedders),
        not_vacuumed=tuple(found["name"] for found in tables),
        sees_sessions=sees,
    )
