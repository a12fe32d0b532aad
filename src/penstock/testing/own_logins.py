"""Logins for tests on a server of the user's own; those of a real installation there are not touched."""

from __future__ import annotations

from penstock.db import Connection
from penstock.testing.servers import Server


async def create_test_logins(connection: Connection, server: Server) -> None:
    """Create them where missing; the migration has made the roles they are members of."""
    for login, roles in server.logins.items():
        known = await connection.fetchval("select true from pg_catalog.pg_roles where rolname = $1", login)
        if not known:
            await connection.execute(f"create role {login} login")
        await connection.execute(f"alter role {login} password '{server.password}'")
        for role in roles:
            await connection.execute(f"grant {role} to {login}")
