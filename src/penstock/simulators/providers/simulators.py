"""The five simulated providers as one object: their records, settings, faults, ledger and app."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from penstock.simulators.providers.app import ProvidersApp
from penstock.simulators.providers.changes import apply_change
from penstock.simulators.providers.control import Control
from penstock.simulators.providers.faults import FaultPlan, Kind, ProviderFault
from penstock.simulators.providers.google.drive_provider import GoogleDrive
from penstock.simulators.providers.google.gmail_provider import Gmail
from penstock.simulators.providers.hubspot.provider import HubSpot
from penstock.simulators.providers.ledger import Ledger
from penstock.simulators.providers.microsoft.provider import Outlook
from penstock.simulators.providers.oauth.vendors import TENANT
from penstock.simulators.providers.provider import SimulatedProvider
from penstock.simulators.providers.quickbooks.provider import QuickBooks
from penstock.simulators.providers.world.delivery import DeliveredMail, MailProvider
from penstock.simulators.providers.world.mail import OWNER
from penstock.simulators.providers.world.world import World
from penstock.simulators.serving import serving


class ProviderSimulators:
    """HubSpot, Drive, QuickBooks, Gmail and Outlook over one world; `url` is set while they are served."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World()
        self.hubspot = HubSpot(self.world)
        self.google_drive = GoogleDrive(self.world)
        self.quickbooks = QuickBooks(self.world)
        self.gmail = Gmail(self.world)
        self.outlook = Outlook(self.world)
        self.faults = FaultPlan()
        self.ledger = Ledger()
        self.url = ""
        self.app = ProvidersApp(
            self.providers, self.faults, self.ledger, Control(self).answer, self._change_all
        )

    @property
    def providers(self) -> dict[str, SimulatedProvider]:
        every: tuple[SimulatedProvider, ...] = (
            self.hubspot,
            self.google_drive,
            self.quickbooks,
            self.gmail,
            self.outlook,
        )
        return {provider.name: provider for provider in every}

    def fail(self, kind: Kind, provider: str | None = None, **options: Any) -> ProviderFault:
        """Plan a fault; see ProviderFault for the options."""
        return self.faults.add(kind, provider, **options)

    def change(self, kind: str, action: str, **more: Any) -> list[str]:
        """Change a record: `change("contacts", "delete", id="12001")`; the ids it concerned."""
        return apply_change(self.world, {"kind": kind, "action": action, **more})

    def deliver(self, provider: MailProvider, template: str = "invoice", **more: Any) -> DeliveredMail:
        """A mail arrives: `deliver("outlook", "invoice", to=…)`; see Delivery.deliver."""
        return self.world.mails.deliver(provider, template, **more)

    def issue_tokens(
        self, provider: str, scopes: frozenset[str] | None = None, account: str = OWNER
    ) -> tuple[str, str]:
        """An access and a refresh token, as if a user had given consent."""
        return self.providers[provider].oauth.issue(scopes, account)

    def drop_sessions(self, provider: str) -> int:
        """Forget the MCP sessions of a provider; how many there were."""
        return sum(server.drop_sessions() for (name, _), server in self.app.mcp.items() if name == provider)

    def settings(self, *, sandbox: bool = False) -> dict[str, str]:
        """The settings that make Penstock use these providers: `Settings(**simulators.settings())`.

        With `sandbox` the MCP servers are those with the logical methods.
        """
        chosen = {"allow_private_addresses": "true"}
        for name in self.providers:
            addresses = self.addresses(name)
            mcp = addresses.pop("sandbox_mcp_url", None)
            if sandbox and mcp is not None:
                addresses["mcp_url"] = mcp
            chosen |= {f"{name}_{what}": value for what, value in addresses.items()}
        return chosen

    def environment(self, *, sandbox: bool = False) -> dict[str, str]:
        """The same as variables of the environment."""
        return {f"PENSTOCK_{name.upper()}": value for name, value in self.settings(sandbox=sandbox).items()}

    def addresses(self, provider: str) -> dict[str, str]:
        """Where a provider's endpoints are, by what they do."""
        simulated = self.providers[provider]
        root, vendor = f"{self.url}/{provider}", simulated.vendor
        paths = {
            "authorize_url": vendor.authorize_path.replace("{tenant}", TENANT),
            "token_url": vendor.token_path.replace("{tenant}", TENANT),
            "revoke_url": vendor.revoke_path,
            "mcp_url": simulated.mcp_path,
            "sandbox_mcp_url": simulated.sandbox_path,
            "identity_url": simulated.identity_path,
        }
        return {
            "api_url": root,
            **{name: root + path for name, path in paths.items() if path is not None},
            "client_id": simulated.oauth.client_id,
            "client_secret": simulated.oauth.client_secret,
            **simulated.more_settings(root),
        }

    def _change_all(self, changes: Sequence[Mapping[str, Any]]) -> None:
        for change in changes:
            apply_change(self.world, change)


@asynccontextmanager
async def serving_providers(
    simulators: ProviderSimulators | None = None, *, host: str = "127.0.0.1", port: int = 0, **sizes: Any
) -> AsyncIterator[ProviderSimulators]:
    """The providers on a loopback port for the duration of the block; `sizes` are those of World."""
    made = simulators or ProviderSimulators(World(**sizes))
    async with serving(made.app, host=host, port=port) as url:
        made.url = url
        yield made


@contextmanager
def providers_in_thread(
    simulators: ProviderSimulators | None = None, **options: Any
) -> Iterator[ProviderSimulators]:
    """The same on a thread of their own, for code that blocks, such as a test that runs a command.

    Plan faults and make changes while no request is in progress, or over /_control.
    """
    ready: list[ProviderSimulators | BaseException] = []
    begun = threading.Event()

    async def serve(stopped: asyncio.Event) -> None:
        async with serving_providers(simulators, **options) as running:
            ready.append(running)
            begun.set()
            await stopped.wait()

    stopped, loop = asyncio.Event(), asyncio.new_event_loop()

    def run() -> None:
        try:
            loop.run_until_complete(serve(stopped))
        except BaseException as error:  # noqa: BLE001  # raised in the caller's thread
            ready.append(error)
            begun.set()
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="simulated providers", daemon=True)
    thread.start()
    begun.wait()
    try:
        if isinstance(ready[0], BaseException):
            raise ready[0]
        yield ready[0]
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stopped.set)
        thread.join()
