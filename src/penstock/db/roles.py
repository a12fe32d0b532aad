"""The roles every schema and grant refers to, made before anything else."""

from __future__ import annotations

from penstock.db.ledger import Ledger
from penstock.db.types import Connection
from penstock.sql import SqlTree

ROLES = "security/roles.sql"
ROLE_NAMES = (
    "penstock_owner",
    "penstock_queue",
    "penstock_keeper",
    "penstock_api",
    "worker_service_user",
    "service_role",
    "penstock_reader",
)


async def ensure_roles(connection: Connection, ledger: Ledger, tree: SqlTree) -> None:
    """Apply the file of roles if it changed or a role is missing."""
    # In a transaction of its own, short: roles belong to the whole server, and the migration of another
    # database waits for whoever creates them.
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
