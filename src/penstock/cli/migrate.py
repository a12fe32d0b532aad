"""`penstock migrate`: bring the database to this version's schema, or say what is missing."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import describe, warn
from penstock.cli.session import database, run
from penstock.db.addresses import prepare
from penstock.db.migrator import MigrationReport, MigrationStatus, status
from penstock.db.reach import reach, reaching
from penstock.settings import Settings

Check = Annotated[bool, typer.Option("--check", help="Change nothing; exit 3 if something is pending.")]


def command(check: Check = False, as_json: output.AsJson = False) -> None:
    """Bring the database to the schema of this version.

    Needs PENSTOCK_ADMIN_URL (or a PENSTOCK_DATABASE_URL that may create roles and schemas); the embedded
    Postgres is made if there is none, with its logins.
    """
    if check:
        _show_status(run(_status()), as_json=as_json)
    else:
        _show_report(run(_migrate()), as_json=as_json)


async def _migrate() -> MigrationReport:
    async with database(Settings(), create=True) as addresses:
        with reaching(addresses.admin):
            return await prepare(addresses)


async def _status() -> MigrationStatus:
    async with database(Settings()) as addresses:
        async with reach(addresses.admin, application_name="penstock migrate") as connection:
            return await status(connection)


def _show_report(report: MigrationReport, *, as_json: bool) -> None:
    # Vectors in Qdrant need nothing of this server.
    missing = None if Settings().index == "qdrant" else report.missing_vectors
    if as_json:
        output.document(
            {
                "version": report.version,
                "changed": report.changed,
                "migrations": report.migrations,
                "objects": report.objects,
                "dropped": report.dropped,
                "vectors": None
                if missing is None
                else {"message": missing.message, "remedy": missing.remedy},
            }
        )
        return
    for path in report.migrations:
        output.write(f"applied {path}")
    if report.objects:
        output.write(f"applied {output.count(len(report.objects), 'file')} of functions, views and grants")
    for path in report.dropped:
        output.write(f"dropped {path}")
    output.write(f"The database is at version {report.version}{'' if report.changed else '; nothing to do'}.")
    if missing is not None:
        warn(f"warning: {describe(missing).line()}")


def _show_status(found: MigrationStatus, *, as_json: bool) -> None:
    if as_json:
        output.document(
            {
                "database_version": found.database_version,
                "code_version": found.code_version,
                "pending": found.pending,
            }
        )
    else:
        for path in found.pending:
            output.write(f"pending {path}")
        output.write(
            f"The database is at version {found.database_version}, the code at {found.code_version}."
        )
    if found.pending:
        if not as_json:
            warn(f"error: {output.count(len(found.pending), 'pending file')}. Run: penstock migrate.")
        raise typer.Exit(Exit.UNREACHABLE)
