"""Login roles of the embedded server: members of the runtime roles, never owners."""

from __future__ import annotations

import asyncpg

from penstock.db.login_names import OPERATOR, RUNTIME
from penstock.db.types import Connection

__all__ = ["MEMBERSHIPS", "OPERATOR", "RUNTIME", "create_logins"]

MEMBERSHIPS = {
    RUNTIME: ("worker_service_user", "penstock_api"),
    OPERATOR: ("service_role", "penstock_api", "penstock_reader"),
}


async def create_logins(connection: Connection) -> None:
    """Create missing logins and memberships; the migration has already created the roles."""
    for login, roles in MEMBERSHIPS.items():
        known = await connection.fetchval("select true from pg_catalog.pg_roles where rolname = $1", login)
        if not known:
            try:
                async with connection.transaction():
                    await connection.execute(f"create role {login} login")
            except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
                pass  # another process created it first
        for role in roles:
            member = await connection.fetchval("select pg_catalog.pg_has_role($1, $2, 'member')", login, role)
            if not member:
                try:
                    async with connection.transaction():
                        await connection.execute(f"grant {role} to {login}")
                except (asyncpg.UniqueViolationError, asyncpg.InternalServerError):
                    pass  # the same; "tuple concurrently updated" means the membership is there
