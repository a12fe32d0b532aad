"""Where to connect as whom: a server of the user's own, or the embedded one, started on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.db.connect import connect
from penstock.db.embedded import EmbeddedServer
from penstock.db.logins import OPERATOR, RUNTIME, create_logins
from penstock.db.migrator import MigrationReport, migrate
from penstock.db.private_files import make_private_dir
from penstock.settings import Settings


@dataclass(frozen=True, slots=True)
class Addresses:
    """One address for each kind of work; `embedded` is the server we hold, if it is ours."""

    runtime: str
    operator: str
    admin: str
    listen: str
    embedded: EmbeddedServer | None = None


def resolve(settings: Settings, server_settings: Mapping[str, str] | None = None) -> Addresses:
    """Read the addresses from the settings, or start the embedded server; blocks for seconds at most."""
    if settings.database_url is not None:
        # Originals and the vault's key are in it; a folder with a cluster is closed when that one is started.
        if settings.data_dir.is_dir() and not (settings.data_dir / "pgdata").exists():
            make_private_dir(settings.data_dir)
        return Addresses(
            runtime=settings.database_url,
            operator=settings.operator_url or settings.database_url,
            admin=settings.admin_url or settings.database_url,
            listen=settings.listen_url or settings.database_url,
        )
    server = EmbeddedServer(settings.data_dir, server_settings)
    server.start()
    return Addresses(
        runtime=server.url(RUNTIME),
        operator=server.url(OPERATOR),
        admin=server.url(),
        listen=server.url(RUNTIME),
        embedded=server,
    )


async def prepare(addresses: Addresses) -> MigrationReport:
    """Migrate, and on the embedded server create the logins the other addresses use."""
    connection = await connect(addresses.admin, application_name="penstock migrate")
    try:
        report = await migrate(connection)
        if addresses.embedded is not None:
            await create_logins(connection)
        return report
    finally:
        await connection.close()
