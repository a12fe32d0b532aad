"""Connections and pools, the translation of SQLSTATEs into our errors, and the check of the role."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import asyncpg

from penstock.db.array_types import register_arrays
from penstock.db.types import Connection, Pool
from penstock.errors import REFUSALS, UnsafeRole

CONNECTION_LOST: tuple[type[Exception], ...] = (
    OSError,  # TimeoutError is one
    EOFError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,  # "connection is closed", found out before anything was sent
    asyncpg.InternalClientError,  # the server closed the connection while the driver was starting a statement
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,  # the server was demoted to a standby
)
"""Errors that mean: the statement may or may not have run; connect again."""

SILENT_SECONDS = 20
"""How long a TCP peer may leave data unacknowledged before the connection counts as lost."""


async def connect(
    url: str,
    *,
    application_name: str = "penstock",
    server_settings: Mapping[str, str] | None = None,
    timeout: float = 10,
    statement_cache_size: int = 100,
) -> Connection:
    """Open one connection; jsonb stays text, and behind a transaction pooler the statement cache is 0."""
    connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
        url,
        timeout=timeout,
        statement_cache_size=statement_cache_size,
        server_settings={**(server_settings or {}), "application_name": application_name},
    )
    await _set_up(connection)
    return connection


async def create_pool(
    url: str,
    *,
    application_name: str = "penstock",
    min_size: int = 1,
    max_size: int = 10,
    server_settings: Mapping[str, str] | None = None,
    timeout: float = 10,
    statement_cache_size: int = 100,
    tidy: bool = True,
) -> Pool:
    """Open a pool of connections.

    `tidy` resets the session when a connection is returned, which costs a round trip. Without it, callers
    must leave no session state behind (one call, no settings).
    """
    return await asyncpg.create_pool(
        url,
        min_size=min(min_size, max_size),
        max_size=max_size,
        timeout=timeout,
        statement_cache_size=statement_cache_size,
        server_settings={**(server_settings or {}), "application_name": application_name},
        init=_set_up,
        reset=None if tidy else _leave_as_is,
    )


def translate(error: asyncpg.PostgresError) -> Exception:
    """Penstock's error for one of its SQLSTATEs; any other error unchanged."""
    refusal = REFUSALS.get(error.sqlstate or "")
    if refusal is None:
        return error
    return refusal.from_sql(str(error.message or error), error.detail, error.hint)


@contextmanager
def translated() -> Iterator[None]:
    """Within the block, raise Penstock's errors instead of the driver's."""
    try:
        yield
    except asyncpg.PostgresError as error:
        ours = translate(error)
        if ours is error:
            raise
        raise ours from error


async def assert_safe_role(connection: Connection) -> None:
    """Reject a role that bypasses row security, or that can become one that does.

    That is a superuser, a role with BYPASSRLS, a member of either or of the owners, and before PostgreSQL 16
    one with CREATEROLE, which may grant itself any role.
    """
    row = await connection.fetchrow(
        """
        select
          r.rolname,
          pg_catalog.quote_ident(r.rolname) as quoted,
          r.rolsuper,
          r.rolbypassrls,
          (
            select pg_catalog.string_agg(o.rolname::text, ', ' order by o.rolname)
            from pg_catalog.pg_roles as o
            where o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants')
              and pg_catalog.pg_has_role(r.oid, o.oid, 'member')
          ) as owner,
          (
            select pg_catalog.min(o.rolname::text)
            from pg_catalog.pg_roles as o
            where (o.rolsuper or o.rolbypassrls) and pg_catalog.pg_has_role(r.oid, o.oid, 'member')
          ) as powerful,
          (
            select pg_catalog.min(pg_catalog.quote_ident(o.rolname))
            from pg_catalog.pg_roles as o
            where o.rolcreaterole
              and pg_catalog.pg_has_role(r.oid, o.oid, 'member')
              and pg_catalog.current_setting('server_version_num')::integer < 160000
          ) as creator
        from pg_catalog.pg_roles as r
        where r.rolname in (session_user, current_user)
        order by r.rolsuper desc, r.rolbypassrls desc
        """
    )
    assert row is not None
    if row["rolsuper"]:
        raise UnsafeRole(row["rolname"], "is a superuser")
    if row["rolbypassrls"]:
        raise UnsafeRole(row["rolname"], "bypasses row security")
    if row["owner"] is not None:
        raise UnsafeRole(
            row["rolname"], f"is a member of {row['owner']}, who owns tables or sees every tenant"
        )
    if row["powerful"] is not None:
        raise UnsafeRole(
            row["rolname"], f"is a member of {row['powerful']}, which is a superuser or bypasses row security"
        )
    if row["creator"] is not None:
        raise UnsafeRole(row["rolname"], *_creates_roles(row["quoted"], row["creator"]))


def _creates_roles(role: str, creator: str) -> tuple[str, str]:
    """Why CREATEROLE is refused before PostgreSQL 16, and what to type."""
    can = "with which it can grant itself any role on a server older than PostgreSQL 16"
    if creator == role:
        return f"has CREATEROLE, {can}", f"As a superuser run: alter role {role} nocreaterole"
    return (
        f"may become {creator}, who has CREATEROLE, {can}",
        f"As a superuser run: revoke {creator} from {role}",
    )


async def _leave_as_is(_connection: Connection) -> None:
    """Skip the session reset, for a pool whose users leave no session state behind."""


async def _set_up(connection: Connection) -> None:
    """What each new connection gets; none of it asks the server."""
    register_arrays(connection)
    _watch_peer(connection)


def _watch_peer(connection: Connection) -> None:
    """Enable TCP keepalive so that the kernel notices a vanished peer; Unix sockets do not need it."""
    transport = getattr(connection, "_transport", None)
    peer: socket.socket | None = transport.get_extra_info("socket") if transport is not None else None
    if peer is None or peer.family == socket.AF_UNIX:
        return
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", 5),
        ("TCP_KEEPINTVL", 5),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", SILENT_SECONDS * 1000),
    ):
        if (option := getattr(socket, name, None)) is not None:
            peer.setsockopt(socket.IPPROTO_TCP, option, value)
