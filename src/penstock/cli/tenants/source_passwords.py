"""`penstock source set-password`: the password of a source that logs in with one, never on a command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from penstock.cli import completion, output
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSlug, tenant_session
from penstock.errors import InvalidArgument
from penstock.model.rows import plain

if TYPE_CHECKING:
    from penstock.sources.sources import Source

VARIABLE: Final = "PENSTOCK_SOURCE_PASSWORD"
LONGEST_FILE: Final = 8_192
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help=f"Read the password from the first line of a file; otherwise from {VARIABLE}, or you are asked.",
    ),
]


def set_password(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="The source's name, kind or id.", autocompletion=completion.sources
        ),
    ],
    password_file: PasswordFile = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Give a source the password it logs in with, and sync it.

    The password goes to the vault and is never shown.
    """
    password = given_password(password_file)

    async def call() -> Source:
        async with tenant_session() as session:
            sources, tenant_id = (
                session.engine.sources,
                await session.tenant(tenant, change="source set-password", target=source),
            )
            found = await sources.find(tenant_id, source)
            await session.declare()
            return await sources.set_password(tenant_id, found.source_id, password)

    changed = run(call())
    if as_json:
        output.document(plain(changed))
    else:
        output.write(f"The password of {changed.name} was set; penstock source show {changed.source_id}")


def given_password(file: Path | None) -> str:
    """From the file, the environment or the terminal; InvalidArgument says how to give it."""
    if file is not None:
        try:
            with file.open(encoding="utf-8") as opened:
                return opened.read(LONGEST_FILE).partition("\n")[0].removesuffix("\r")
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InvalidArgument(
                f"the password cannot be read from {file}: {reason}", "password-file", "Check the file"
            ) from None
    if (found := os.environ.get(VARIABLE)) is not None:
        return found
    if not sys.stdin.isatty():
        raise InvalidArgument(
            "the source needs a password", "password", f"Use --password-file FILE, or set {VARIABLE}"
        )
    asked: str = typer.prompt("Password", hide_input=True, err=True)
    return asked
