"""`penstock new`: generates the files of a new supervised process in your project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.processes.channels.names import ChannelName
from penstock.processes.generator import (
    Process,
    ProcessSubject,
    Target,
    channel_names,
    check_absent,
    process_files,
    write,
)

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the process, such as send_reminder.")]
Schema = Annotated[str, typer.Option(help="The schema to create it in; it is created if it does not exist.")]
Over = Annotated[
    str,
    typer.Option(
        "--channel", metavar="CHANNEL", help="How an attempt does its work: db_function, email, sms, "
        "file_delete, or your own channel."
    ),
]  # fmt: skip
About = Annotated[
    ProcessSubject | None,
    typer.Option(
        "--about", help="What one run is about; default: subject, any text. Email, sms and file_delete "
        "have their own."
    ),
]  # fmt: skip
Into = Annotated[
    Path, typer.Option(metavar="FOLDER", help="The project to write into; default: the current folder.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list the files that would be written.")]


@group.callback()
def new() -> None:
    """Generate files in your project."""


@group.command("process")
def process(
    name: Name,
    schema: Schema,
    channel: Over = ChannelName.DB_FUNCTION,
    about: About = None,
    into: Into = Path(),
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Generate the files of a supervised process.

    The migration, functions, grants and their test work as generated.
    """
    _check_channel(channel, into)
    wanted = Process.named(name, schema, channel, about)
    target = Target.at(into)
    files = process_files(wanted, target)
    if dry_run:
        check_absent(target.root, files)
    else:
        write(target.root, files)
    paths = [str(file.path) for file in files]
    steps = next_steps(wanted, target, paths)
    if as_json:
        output.document(
            {
                "process": wanted.qualified,
                "channel": wanted.channel,
                "about": wanted.about,
                "written": not dry_run,
                "folder": str(target.root),
                "files": paths,
                "next_steps": steps,
            }
        )
        return
    output.write(f"{'Would write' if dry_run else 'Wrote'} {wanted.qualified} into {target.root}:")
    for path in paths:
        output.write(f"  {path}")
    output.write("\nNext:")
    for number, step in enumerate(steps, 1):
        output.write(f"  {number}. {step}")


def _check_channel(channel: str, into: Path) -> None:
    own = channel_names(into.resolve())
    if channel not in (*ChannelName, *own):
        raise typer.BadParameter(
            f"there is no channel {channel!r}; use {', '.join((*ChannelName, *own))}. Offer your own in "
            'pyproject.toml: [project.entry-points."penstock.channels"]',
            param_hint="channel",
        )


def next_steps(process: Process, target: Target, paths: list[str]) -> list[str]:
    """The remaining steps, in order."""
    first = process.first_function.partition(".")[2]
    mine = next(path for path in paths if path.endswith(f"/{first}.sql"))
    work = "Write the work into" if process.channel == ChannelName.DB_FUNCTION else "Check what is sent in"
    checks = (
        "make check && .venv/bin/python -m pytest" if target.is_penstock else "penstock db check && pytest"
    )
    return [
        f"{work} {mine}; change the migration now, because it cannot be changed once applied",
        f"{checks} {paths[-1]}",
        "penstock migrate, then restart the workers",
        (
            f"To start a process, call {process.schema}.kickoff_{process.name}(…) in a transaction "
            "of the tenant"
        ),
    ]
