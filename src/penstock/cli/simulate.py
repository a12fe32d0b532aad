"""`penstock simulate`: runs simulated providers to develop against, without an account anywhere."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.errors import InvalidArgument

if TYPE_CHECKING:
    from penstock.simulators.providers import ProviderSimulators

DEFAULT_PORT = 8791
API_URL = "http://127.0.0.1:8000"
HOST = "127.0.0.1"

Records = Annotated[
    int,
    typer.Option(min=1, max=200_000, help="HubSpot contacts; the other records are in proportion."),
]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 picks a free one.")]
Seed = Annotated[int, typer.Option(help="The same seed makes the same records.")]
AutoConsent = Annotated[bool, typer.Option("--auto-consent", help="Allow every request without asking.")]
Sandbox = Annotated[
    bool, typer.Option("--sandbox", help="Use the MCP servers that have Penstock's own method names.")
]
Qdrant = Annotated[
    bool, typer.Option("--qdrant", help="Also run a simulated Qdrant server, on the next port.")
]
ApiUrl = Annotated[
    str, typer.Option(help="Where Penstock's API is; the mailboxes send notifications there.", metavar="URL")
]


def command(
    records: Records = 500,
    port: Port = DEFAULT_PORT,
    seed: Seed = 1,
    auto_consent: AutoConsent = False,
    sandbox: Sandbox = False,
    api_url: ApiUrl = API_URL,
    qdrant: Qdrant = False,
    as_json: output.AsJson = False,
) -> None:
    """Run simulated HubSpot, Google Drive, QuickBooks, Gmail and Outlook until Ctrl-C.

    Prints the settings that make Penstock use them: export them where the API and the worker run, then run
    penstock source connect hubspot. When it stops, its records and tokens are gone. Faults, changes to
    records, mails that arrive and a ledger of the requests are at /_control.
    """
    simulated = _made(records, seed, auto_consent, api_url)
    loop = import_module("uvloop").Loop if find_spec("uvloop") is not None else None
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(_serve(simulated, port, api_url, sandbox=sandbox, qdrant=qdrant, as_json=as_json))


def this_month() -> datetime:
    """When the records end: recent enough for a first sync that looks back some weeks."""
    return datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _made(records: int, seed: int, auto_consent: bool, api_url: str) -> ProviderSimulators:
    from penstock.simulators.providers import ProviderSimulators, World

    simulators = ProviderSimulators(World(seed, contacts=records, anchor=this_month()))
    for provider in simulators.providers.values():
        provider.oauth.auto_consent = auto_consent
    try:
        simulators.gmail.pubsub.push_to(f"{api_url.rstrip('/')}/webhooks/gmail")
    except ValueError as error:
        raise InvalidArgument(
            f"{error}", "--api-url", f"Give the address of an API on this machine, such as {API_URL}"
        ) from error
    return simulators


async def _serve(
    simulators: ProviderSimulators, port: int, api_url: str, *, sandbox: bool, qdrant: bool, as_json: bool
) -> None:
    from penstock.simulators.providers import serving_providers

    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with AsyncExitStack() as running:
        more: dict[str, str] = {}
        try:
            await running.enter_async_context(serving_providers(simulators, host=HOST, port=port))
            if qdrant:
                more = await _serve_qdrant(running, port and port + 1)
        except OSError as error:
            raise InvalidArgument(
                f"the simulators cannot listen on {HOST}:{port}: {error.strerror or error}",
                "--port",
                "Add --port 0 to use any free port",
            ) from error
        _show(simulators, api_url, sandbox=sandbox, as_json=as_json, more=more)
        await stopped.wait()


async def _serve_qdrant(running: AsyncExitStack, port: int) -> dict[str, str]:
    """The settings that make Penstock use it; its vectors are gone when it stops."""
    try:
        from penstock.simulators.qdrant import QdrantSimulator
    except ImportError as missing:
        raise InvalidArgument(
            f"the engine of the simulated Qdrant is missing: {missing.name}",
            "--qdrant",
            "Run: pip install 'penstock[qdrant]' qdrant-edge-py",
        ) from missing
    from penstock.simulators.serving import serving

    simulated = QdrantSimulator()
    running.callback(simulated.close)
    url = await running.enter_async_context(serving(simulated.app, host=HOST, port=port))
    return {"PENSTOCK_INDEX": "qdrant", "PENSTOCK_QDRANT_URL": url}


def _show(
    simulators: ProviderSimulators,
    api_url: str,
    *,
    sandbox: bool,
    as_json: bool,
    more: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """The settings go to stdout, so that they can be piped into a file."""
    counts = simulators.world.counts()
    chosen = {"PENSTOCK_PUBLIC_URL": api_url.rstrip("/"), **simulators.environment(sandbox=sandbox), **more}
    if as_json:
        shown = {"url": simulators.url, "records": counts, "environment": chosen}
        output.document(shown, one_line=True)
        return
    for name, value in chosen.items():
        output.write(f"export {name}={shlex.quote(value)}")
    listed = ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
    warn(f"Simulated providers listen on {simulators.url}: {listed}")
    warn("Export these settings where penstock up runs, and where you type: penstock source connect outlook")
