"""Parses metadata from the command line: repeated KEY=VALUE options."""

from __future__ import annotations

import typer


def pairs(options: list[str] | None) -> dict[str, str]:
    """Repeated KEY=VALUE options as a dictionary."""
    found: dict[str, str] = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{option!r} is not of the form KEY=VALUE", param_hint="--metadata")
        found[key] = value
    return found
