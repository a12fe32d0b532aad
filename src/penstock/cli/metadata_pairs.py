"""Metadata on a command line: KEY=VALUE, repeated."""

from __future__ import annotations

import typer


def pairs(options: list[str] | None) -> dict[str, str]:
    """KEY=VALUE, repeated, as a dictionary."""
    found: dict[str, str] = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{option!r} is not KEY=VALUE", param_hint="--metadata")
        found[key] = value
    return found
