"""`penstock db`: the database's address, versions, psql, dump and restore, and stopping the embedded
server."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.confirmation import DryRun, would
from penstock.cli.database import db_check
from penstock.cli.failures import warn
from penstock.cli.progress import bar
from penstock.cli.session import database, has_database, run
from penstock.db.addresses import Addresses, prepare, resolve
from penstock.db.backup import back_up, require_dump, require_room, restore
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.programs import find_program, for_libpq
from penstock.db.reach import reaching
from penstock.errors import InvalidArgument, ProgramFailed
from penstock.settings import Settings

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
group.command("status")(db_check.show_status)
group.command("check")(db_check.check)


class Role(StrEnum):
    RUNTIME = "runtime"
    OPERATOR = "operator"
    ADMIN = "admin"

    def of(self, addresses: Addresses) -> str:
        match self:
            case Role.RUNTIME:
                return addresses.runtime
            case Role.OPERATOR:
                return addresses.operator
            case Role.ADMIN:
                return addresses.admin


RoleOption = Annotated[Role, typer.Option(help="The role to connect as.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]
Arguments = Annotated[list[str] | None, typer.Argument(help="Arguments for psql, after --.")]
Target = Annotated[
    Path, typer.Argument(metavar="FILE", help="File to write; it appears once it is complete.")
]
Source = Annotated[Path, typer.Argument(metavar="FILE", help="A file written by penstock db backup.")]


@group.command("url")
def url(role: RoleOption = Role.RUNTIME, as_json: output.AsJson = False) -> None:
    """Print the database's address.

    If the embedded server is not running, it is started and left running.
    """
    found = role.of(asyncio.run(_left_running()))
    output.document({"role": role, "url": found}) if as_json else output.write(found)


@group.command("psql")
def psql(
    arguments: Arguments = None, role: RoleOption = Role.OPERATOR, as_json: output.AsJson = False
) -> None:
    """Open psql.

    Arguments after -- are passed to psql; --json does not change what it prints.
    """

    async def call() -> int:
        async with database(Settings()) as addresses:
            if addresses.embedded is not None:
                with reaching(addresses.admin):
                    await prepare(addresses)
            address, environment = for_libpq(role.of(addresses))
            program = find_program("psql", addresses, system_first=True)
            # Not exec: the embedded server must be released, and perhaps stopped, when psql ends.
            return await asyncio.to_thread(
                _run, [str(program), f"--dbname={address}", *(arguments or ())], environment
            )

    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C belongs to psql: it cancels a query
    raise typer.Exit(run(call()))


@group.command("backup")
def backup(target: Target, force: Force = False, as_json: output.AsJson = False) -> None:
    """Dump the database to one file.

    It is in pg_dump's custom format; workers can keep running. Original files and the vault key are not in
    the database; penstock backup includes them.
    """

    async def call() -> int:
        async with database(Settings()) as addresses:
            with bar("backup", None) as progress:
                return await back_up(addresses, target.absolute(), force=force, progress=progress)

    size = run(call())
    if as_json:
        output.document(
            {"file": str(target.absolute()), "bytes": size, "left_out": ["originals", "vault key"]}
        )
    else:
        output.write(f"{target}: {output.count(size, 'byte')}")
        warn("The file contains neither the original files nor the vault key; penstock backup includes them.")


@group.command("restore")
def restore_file(source: Source, dry_run: DryRun = False, as_json: output.AsJson = False) -> None:
    """Restore a dump into an empty database and migrate it.

    A database with data is left alone.
    """

    async def look() -> int:
        await require_dump(source.absolute())
        settings = Settings()
        if has_database(settings):
            async with database(settings) as addresses:
                await require_room(addresses, replace=False)
        return source.absolute().stat().st_size

    if dry_run:
        size = run(look())
        would(
            f"restore {source} with {output.count(size, 'byte')} into an empty database",
            as_json=as_json,
            bytes=size,
        )
        return

    async def call() -> None:
        async with database(Settings(), create=True) as addresses:
            await restore(addresses, source.absolute())

    run(call())
    output.document({"file": str(source.absolute()), "restored": True}) if as_json else output.write(
        "Restored."
    )


@group.command("stop")
def stop(as_json: output.AsJson = False) -> None:
    """Stop the embedded server.

    It stops even if it is in use; nothing committed is lost.
    """
    settings = Settings()
    if settings.database_url is not None:
        raise InvalidArgument(
            "the database is not the embedded one", "database_url", "Stop it on the server where it runs"
        )
    server = EmbeddedServer(settings.data_dir)
    was_running = server.running()
    server.stop()
    if as_json:
        output.document({"data_dir": str(server.data_dir), "was_running": was_running})
    else:
        output.write("Stopped." if was_running else "The server was not running.")


async def _left_running() -> Addresses:
    settings = Settings()
    if settings.database_url is not None:
        return resolve(settings)
    running = await asyncio.to_thread(EmbeddedServer(settings.data_dir).running)
    addresses = await asyncio.to_thread(resolve, settings)
    with reaching(addresses.admin):
        await prepare(addresses)
    assert addresses.embedded is not None
    addresses.embedded.release()
    if not running:
        warn("Started the embedded Postgres; to stop it: penstock db stop")
    return addresses


def _run(command: list[str], environment: dict[str, str]) -> int:
    try:
        return subprocess.run(command, env=environment, check=False).returncode
    except OSError as error:
        raise ProgramFailed(os.path.basename(command[0]), str(error)) from error
