"""The demo's connected sources: simulated providers, a consent for each, and the syncs of a real worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock.cli.demo.progress import DemoProgress
from penstock.db import Connection
from penstock.db.pause import pause
from penstock.engine.services import Services
from penstock.errors import InvalidMove
from penstock.model import SourceId, TenantId
from penstock.sources.clients.rows import ClientDetails, ClientFact
from penstock.sources.sources import SourceDetails

if TYPE_CHECKING:
    from penstock.simulators.providers import ProviderSimulators

PROVIDERS: Final = ("hubspot", "google_drive", "quickbooks", "gmail", "outlook")
SIZES: Final[dict[str, Any]] = {
    "contacts": 60,
    "companies": 12,
    "deals": 20,
    "invoices": 40,
    "files": 8,
    "threads": 16,
    "mails": 0,
}
POLL_SECONDS: Final = 0.2
GIVE_UP_SECONDS: Final = 180.0
UNFINISHED: Final = """
  select count(*) from ingest.document
  where deleted_at is null and status in ('pending', 'processing', 'embedding')
"""


@dataclass(frozen=True, slots=True)
class SourcesResult:
    """What the simulated accounts became; `client` is one that HubSpot and QuickBooks both know."""

    sources: Sequence[SourceDetails]
    clients: int
    client: ClientDetails | None
    seconds: float

    @property
    def whole(self) -> bool:
        return self.client is not None and all(
            source.health.state == "healthy" and not source.jobs[0].items_failed for source in self.sources
        )

    def newest_facts(self) -> list[ClientFact]:
        """The client's facts, of those that several records state the newest."""
        newest: dict[str, ClientFact] = {}
        for fact in self.client.facts if self.client else ():
            if fact.name not in newest or fact.as_of > newest[fact.name].as_of:
                newest[fact.name] = fact
        return list(newest.values())


def settings_of(simulators: ProviderSimulators, public_url: str) -> dict[str, Any]:
    """Whatever accounts, keys and stores the environment names, the demo uses the simulators and its own.

    `public_url` is the address of the demo's API.
    """
    vault = dict.fromkeys(("vault_key", "vault_key_file", "vault_kms_key_id"))
    return {
        **simulators.settings(),
        **vault,
        "secret_store": "postgres",
        "integrations_use_fixtures": False,
        "public_url": public_url,
    }


async def sync_sources(
    services: Services, owner: TenantId, connection: Connection, progress: DemoProgress
) -> SourcesResult:
    """Connect all providers, wait until everything in them is searchable, and look at one client."""
    progress.say("Connecting simulated HubSpot, Google Drive, QuickBooks, Gmail and Outlook …")
    started = monotonic()
    ids = [await _connect(services, owner, provider) for provider in PROVIDERS]
    while True:
        sources = [await services.sources.show(owner, source_id) for source_id in ids]
        _show(progress, sources)
        is_over = all(source.health.state in ("healthy", "needs_you") for source in sources)
        if (is_over and not await connection.fetchval(UNFINISHED)) or (
            monotonic() - started > GIVE_UP_SECONDS
        ):
            break
        await pause(POLL_SECONDS)
    took = monotonic() - started
    known = (await services.clients.list(owner, limit=500)).items
    client = None
    for found in sorted(known, key=lambda each: -each.record_count):
        if {"hubspot", "quickbooks"} <= set(found.sources):
            client = await services.clients.show(owner, found.client_id)
            if {"open_deals", "invoice_history"} <= {fact.name for fact in client.facts}:
                break
    return SourcesResult(sources, len(known), client, took)


async def _connect(services: Services, owner: TenantId, provider: str) -> SourceId:
    """As a user does in the browser, which goes to a consent page that allows everything and comes back."""
    from penstock.net.outbound import open_client

    asked = await services.connecting.begin(owner, provider, requested_by="demo")
    async with open_client(allow_private=True) as browser:
        consented = await browser.get(asked.url)
        await browser.get(consented.headers["location"])
    progress = await services.connecting.follow(owner, asked.state)
    if progress.source_id is None:
        failed = progress.error_code or progress.status
        raise InvalidMove(f"the simulated {provider} was not connected: {failed}", None, "Run the demo again")
    source_id = progress.source_id
    # The simulators end with the demo: a nightly sync would find nobody.
    await services.sources.schedule(owner, source_id, None)
    return source_id


def _show(progress: DemoProgress, sources: Sequence[SourceDetails]) -> None:
    seen = [source.jobs[0].items_seen if source.jobs else 0 for source in sources]
    over = sum(source.health.state == "healthy" for source in sources)
    parts = zip(sources, seen, strict=True)
    progress.update(over, len(sources), "  ".join(f"{source.kind} {number:,}" for source, number in parts))
