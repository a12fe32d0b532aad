"""The roles that schemas and grants refer to, created before anything else."""

from __future__ import annotations

from penstock.db.ledger import MigrationLedger
from penstock.db.types import Connection
from penstock.sql import SqlTree

ROLES = "security/roles.sql"
ROLE_NAMES = (
    "penstock_owner",
    "penstock_queue",
    "penstock_all_tenants",
    "penstock_api",
    "worker_service_user",
    "service_role",
    "penstock_reader",
)


async def ensure_roles(connection: Connection, ledger: MigrationLedger, tree: SqlTree) -> None:
    """Apply the roles file if it changed or a role is missing."""
    # In its own short transaction: roles belong to the whole server, and the migration of another
    # database waits for this one to commit.
    for file in tree.security:
        if file.path == ROLES:
            async with connection.transaction():
                if ledger.changed((file,)) or not await _roles_exist(connection):
                    await connection.execute(file.text)


async def _roles_exist(connection: Connection) -> bool:
    found: int = await connection.fetchval(
        "select count(*) from pg_catalog.pg_roles where rolname = any($1)", list(ROLE_NAMES)
    )
    return found == len(ROLE_NAMES)
