"""`penstock migrate`: upgrades the database schema to this version, or shows what is pending."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import describe, warn
from penstock.cli.session import database, run
from penstock.db.addresses import prepare
from penstock.db.folder_migrator import FolderReport
from penstock.db.migrator import MigrationReport, MigrationStatus
from penstock.db.reach import reaching
from penstock.settings import Settings

Check = Annotated[bool, typer.Option("--check", help="Change nothing; exit with 3 if something is pending.")]


def command(check: Check = False, as_json: output.AsJson = False) -> None:
    """Upgrade the database schema to this version, then apply your own SQL.

    Needs PENSTOCK_ADMIN_URL, or a PENSTOCK_DATABASE_URL that may create roles and schemas. The embedded
    Postgres is created if there is none, with its logins.
    """
    if check:
        from penstock.cli.database.db_check import read_status

        _show_status(run(read_status()), as_json=as_json)
    else:
        _show_report(run(_migrate()), as_json=as_json)


async def _migrate() -> MigrationReport:
    async with database(Settings(), create=True) as addresses:
        with reaching(addresses.admin):
            return await prepare(addresses)


def _show_report(report: MigrationReport, *, as_json: bool) -> None:
    # Vectors in Qdrant need nothing from this server.
    missing = None if Settings().index == "qdrant" else report.missing_vectors
    if as_json:
        output.document(
            {
                "version": report.version,
                "changed": report.changed,
                "migrations": report.migrations,
                "objects": report.objects,
                "dropped": report.dropped,
                "folders": report.folders,
                "vectors": None
                if missing is None
                else {"message": missing.message, "remedy": missing.remedy},
            }
        )
        return
    _show_files(report)
    for folder in report.folders:
        _show_files(folder, f"{folder.path}/")
    own = "".join(f", {folder.name} at {folder.version}" for folder in report.folders)
    nothing = "" if report.changed else "; nothing to do"
    output.write(f"The database is at version {report.version}{own}{nothing}.")
    if missing is not None:
        warn(f"warning: {describe(missing).line()}")


def _show_files(report: MigrationReport | FolderReport, folder: str = "") -> None:
    for path in report.migrations:
        output.write(f"applied {folder}{path}")
    if report.objects:
        where = f" in {folder}" if folder else ""
        count = output.count(len(report.objects), "file")
        output.write(f"applied {count} with functions, views and grants{where}")
    for path in report.dropped:
        output.write(f"dropped {folder}{path}")


def _show_status(found: MigrationStatus, *, as_json: bool) -> None:
    if as_json:
        output.document(
            {
                "database_version": found.database_version,
                "code_version": found.code_version,
                "pending": found.pending,
                "folders": found.folders,
            }
        )
    else:
        for path in found.waiting:
            output.write(f"pending {path}")
        output.write(
            f"The database is at version {found.database_version}, the code at {found.code_version}."
        )
    if found.waiting:
        if not as_json:
            warn(f"error: {output.count(len(found.waiting), 'pending file')}. Run: penstock migrate.")
        raise typer.Exit(Exit.UNREACHABLE)
