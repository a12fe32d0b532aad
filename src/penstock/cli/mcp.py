"""`penstock mcp`: serves a tenant's documents to an AI assistant over stdin and stdout."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.product_session import stay
from penstock.cli.session import run
from penstock.errors import KeyRefused
from penstock.mcp import serve_stdio
from penstock.settings import Settings

Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="KEY", help="The tenant's API key; PENSTOCK_API_KEY keeps it out of sight."
    ),
]


def command(key: Key = None, as_json: output.AsJson = False) -> None:
    """Serve the tools search, get_document and list_documents over stdin and stdout.

    An assistant starts it as a child: command penstock, argument mcp, PENSTOCK_API_KEY in its environment.
    It ends with its stdin. stdout carries the protocol, with --json too; errors and logs go to stderr.
    """
    secret = key or Settings().api_key
    if not secret:
        raise KeyRefused(
            "no API key is given", "key", "Set PENSTOCK_API_KEY; penstock tenant key create makes one"
        )
    try:
        run(_serve(secret))
    except asyncio.CancelledError:
        return


async def _serve(secret: str) -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with stay() as here:
        await serve_stdio(here.product, secret)
