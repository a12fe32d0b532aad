"""`penstock new`: write the files of a new supervised process into a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.scaffold import Channel, Checkout, Process, Thing, check_absent, process_files, write

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What it does, such as send_reminder.")]
Schema = Annotated[str, typer.Option(help="The schema it lives in; a new one is created.")]
Over = Annotated[Channel, typer.Option("--channel", help="How an attempt does its work.")]
About = Annotated[
    Thing | None,
    typer.Option(
        "--about", help="What one run is about; subject, any text, if not given. Channels other than "
        "db_function have their own."
    ),
]  # fmt: skip
Into = Annotated[Path, typer.Option(metavar="FOLDER", help="The checkout of Penstock to write into.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list what would be written.")]


@group.callback()
def new() -> None:
    """Write the files of something new into a checkout."""


@group.command("process")
def process(
    name: Name,
    schema: Schema,
    channel: Over = Channel.DB_FUNCTION,
    about: About = None,
    into: Into = Path(),
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Write the migration, functions, grants and test of a supervised process; they work as they are."""
    wanted = Process.named(name, schema, channel, about)
    checkout = Checkout.at(into)
    files = process_files(wanted, checkout)
    if dry_run:
        check_absent(checkout.root, files)
    else:
        write(checkout.root, files)
    paths = [str(file.path) for file in files]
    steps = next_steps(wanted, paths)
    if as_json:
        output.document(
            {
                "process": wanted.qualified,
                "channel": wanted.channel,
                "about": wanted.about,
                "written": not dry_run,
                "folder": str(checkout.root),
                "files": paths,
                "next_steps": steps,
            }
        )
        return
    output.write(f"{'Would write' if dry_run else 'Wrote'} {wanted.qualified} into {checkout.root}:")
    for path in paths:
        output.write(f"  {path}")
    output.write("\nNext:")
    for number, step in enumerate(steps, 1):
        output.write(f"  {number}. {step}")


def next_steps(process: Process, paths: list[str]) -> list[str]:
    """What is left to do, in order."""
    first = process.first_function.partition(".")[2]
    mine = next(path for path in paths if path.endswith(f"/{first}.sql"))
    work = "Write the work into" if process.channel is Channel.DB_FUNCTION else "Look at what is sent by"
    return [
        f"{work} {mine}; change the migration now or never, once applied it is fixed",
        f"make check && .venv/bin/python -m pytest {paths[-1]}",
        "penstock migrate, then restart the workers",
        f"To start one, call {process.schema}.kickoff_{process.name}(…) in a transaction of the tenant",
    ]
