"""Asks before something is deleted or run again, or only says what would happen."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.errors import InvalidArgument

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would happen; change nothing.")]


def confirm(action: str, *, yes: bool, as_json: bool, is_usage: bool = False) -> None:
    """Ask before an action such as "delete 3 documents"; without a terminal, --yes is required.

    `is_usage`: a missing --yes is an error of usage, with exit code 2, as some commands have always had it.
    """
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        if is_usage:
            raise typer.BadParameter(f"to {action} needs confirmation", param_hint="--yes")
        raise InvalidArgument(f"confirmation is required to {action}", "yes", "Add --yes")
    if not typer.confirm(f"{action[0].upper()}{action[1:]}?", err=True):
        warn("Nothing was changed.")
        raise typer.Exit(Exit.REFUSED)


def would(action: str, *, as_json: bool, count: int | None = None, **facts: object) -> None:
    """Say what a command with --dry-run would do, such as "delete 3 documents"; `count` is how many."""
    if as_json:
        output.document({"dry_run": True, "would": action, "count": count, **facts})
    else:
        output.write(f"Would {action}. Nothing was changed.")
