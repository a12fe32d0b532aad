"""`penstock db status` and `penstock db check`: versions of all SQL, and a check of your own SQL."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.session import database, run
from penstock.db.migrator import MigrationStatus, status
from penstock.db.reach import reach
from penstock.db.sql_folders import SqlFolder, find_folders, read_folder
from penstock.errors import InvalidArgument
from penstock.settings import Settings

HINT = (
    "Set PENSTOCK_SQL_DIR, name a folder, or write the first files: penstock new process NAME --schema SCHEMA"
)

Folder = Annotated[
    Path | None,
    typer.Argument(metavar="FOLDER", help="A folder with SQL; default: the folders configured here."),
]


def show_status(as_json: output.AsJson = False) -> None:
    """Show the SQL versions in the database.

    Those of Penstock's own SQL and of your SQL folders.
    """
    found = run(read_status())
    rows = [
        {
            "folder": "penstock",
            "database_version": found.database_version,
            "code_version": found.code_version,
            "pending": found.pending,
            "path": None,
            "origin": None,
        },
        *(
            {
                "folder": folder.name,
                "database_version": folder.database_version,
                "code_version": folder.code_version,
                "pending": folder.pending,
                "path": folder.path,
                "origin": folder.origin,
            }
            for folder in found.folders
        ),
    ]
    if as_json:
        output.document({"ledgers": rows, "current": not found.waiting})
        return
    for row in rows:
        code = row["code_version"]
        known = "its folder is missing here" if code is None else f"code {code}, {_pending(row['pending'])}"
        place = "" if row["path"] is None else f" ({row['origin']}: {row['path']})"
        output.write(f"{row['folder']}: database {row['database_version']}, {known}{place}")


def _pending(paths: object) -> str:
    assert isinstance(paths, tuple)
    return output.count(len(paths), "pending file") if paths else "nothing pending"


async def read_status() -> MigrationStatus:
    """Read the status as the role that migrates, without changing anything."""
    async with database(Settings()) as addresses:
        folders = addresses.folders
        async with reach(addresses.admin, application_name="penstock migrate") as connection:
            return await status(connection, folders=folders)


def check(folder: Folder = None, as_json: output.AsJson = False) -> None:
    """Check your own SQL.

    It checks the files, applies them to a scratch Postgres and checks the security rules. Your own databases
    are not touched. Exits with 1 if something must be fixed.
    """
    from penstock.db.sql_check import Scratch, check_folders

    folders = _folders(folder)
    with Scratch() as url:
        complaints = asyncio.run(check_folders(url, folders))
    count = sum(len(each.tree.files) for each in folders)
    if as_json:
        output.document(
            {"folders": [str(each.root) for each in folders], "files": count, "complaints": complaints}
        )
    else:
        for complaint in complaints:
            output.write(complaint)
        said = output.count(len(complaints), "complaint") if complaints else "no problems"
        output.write(
            f"{output.count(count, 'file')} in {', '.join(str(each.root) for each in folders)}: {said}"
        )
    if complaints:
        if not as_json:
            warn("error: fix the files above; see docs/guides/own-processes.md for the rules.")
        raise typer.Exit(Exit.REFUSED)


def _folders(named: Path | None) -> tuple[SqlFolder, ...]:
    if named is None:
        found = find_folders(Settings().sql_dir)
    else:
        one = read_folder(named.resolve(), "--")
        found = () if one is None else (one,)
    if not found:
        raise InvalidArgument("there is no SQL of your own to check", "folder", HINT)
    return found
