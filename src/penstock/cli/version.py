"""`penstock version`."""

from __future__ import annotations

import json
import platform
from typing import Annotated

import typer

from penstock import __version__


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")] = False,
) -> None:
    """Print the version."""
    if as_json:
        print(json.dumps({"version": __version__, "python": platform.python_version()}))
    else:
        print(f"penstock {__version__}")
