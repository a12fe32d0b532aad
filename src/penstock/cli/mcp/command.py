"""`penstock mcp`: serves documents to an AI assistant over stdio; `config` prints the assistant's
settings."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.mcp.config import config
from penstock.cli.session import run
from penstock.cli.tenant_session import tenant_session
from penstock.errors import KeyRefused
from penstock.settings import Settings

group = typer.Typer(no_args_is_help=False, rich_markup_mode=None)

Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="KEY",
        help="The tenant's API key; set PENSTOCK_API_KEY instead to keep it out of the process list.",
    ),
]


@group.callback(invoke_without_command=True)
def serve(context: typer.Context, key: Key = None, as_json: output.AsJson = False) -> None:
    """Serve the tools search, get_document and list_documents over stdin and stdout.

    An assistant starts this command itself; penstock mcp config prints what to paste into its settings. The
    command ends when stdin is closed. stdout carries the protocol, also with --json; errors and logs go to
    stderr.
    """
    if context.invoked_subcommand is not None:
        return
    secret = key or Settings().api_key
    if not secret:
        raise KeyRefused(
            "no API key was given",
            "key",
            "Set PENSTOCK_API_KEY; penstock mcp config --create-key creates a key and prints the settings",
        )
    try:
        run(_serve(secret))
    except asyncio.CancelledError:
        return


group.command("config")(config)


async def _serve(secret: str) -> None:
    from penstock.mcp import serve_stdio

    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with tenant_session() as session:
        await serve_stdio(session.engine, secret)
