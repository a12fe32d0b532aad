"""Which address each kind of work uses: the user's own server, or the embedded one, started on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.db.connect import connect
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.logins import OPERATOR, RUNTIME, create_logins
from penstock.db.migrator import MigrationReport, migrate
from penstock.db.private_files import make_private_dir
from penstock.db.sql_folders import SqlFolder, find_folders
from penstock.settings import Settings


@dataclass(frozen=True, slots=True)
class Addresses:
    """One address for each kind of work; `embedded` is the embedded server, if it is used."""

    runtime: str
    operator: str
    admin: str
    listen: str
    embedded: EmbeddedServer | None = None
    sql_dir: Path | None = None

    @property
    def folders(self) -> tuple[SqlFolder, ...]:
        """The users' own SQL for this database; read again each time."""
        return find_folders(self.sql_dir)


def resolve(settings: Settings, server_settings: Mapping[str, str] | None = None) -> Addresses:
    """Read the addresses from the settings, or start the embedded server; blocks for seconds at most."""
    if settings.database_url is not None:
        # It holds originals and the vault's key. One with a cluster is made private when the server starts.
        if settings.data_dir.is_dir() and not (settings.data_dir / "pgdata").exists():
            make_private_dir(settings.data_dir)
        return Addresses(
            runtime=settings.database_url,
            operator=settings.operator_url or settings.database_url,
            admin=settings.admin_url or settings.database_url,
            listen=settings.listen_url or settings.database_url,
            sql_dir=settings.sql_dir,
        )
    server = EmbeddedServer(settings.data_dir, server_settings)
    server.start()
    return Addresses(
        runtime=server.url(RUNTIME),
        operator=server.url(OPERATOR),
        admin=server.url(),
        listen=server.url(RUNTIME),
        embedded=server,
        sql_dir=settings.sql_dir,
    )


async def prepare(addresses: Addresses) -> MigrationReport:
    """Migrate, and on the embedded server create the logins the other addresses use."""
    folders = addresses.folders
    connection = await connect(addresses.admin, application_name="penstock migrate")
    try:
        report = await migrate(connection, folders=folders)
        if addresses.embedded is not None:
            await create_logins(connection)
        return report
    finally:
        await connection.close()
