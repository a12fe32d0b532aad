"""Asks before something is deleted or run again."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.errors import InvalidArgument

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def confirm(action: str, *, yes: bool, as_json: bool) -> None:
    """Ask before an action such as "delete 3 documents"; without a terminal, --yes is required."""
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise InvalidArgument(f"confirmation is required to {action}", "yes", "Add --yes")
    if not typer.confirm(f"{action[0].upper()}{action[1:]}?", err=True):
        warn("Nothing was changed.")
        raise typer.Exit(Exit.REFUSED)
