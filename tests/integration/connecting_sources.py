"""Sources connected at simulated providers: a tenant, the providers, and what a test asks about tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2

from penstock.model import SourceId
from penstock.simulators.providers import ProviderSimulators, serving_providers
from tests.integration.api_server import ApiServer, api_server
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on


@dataclass(slots=True)
class Connections:
    """The engine of one tenant beside the simulated providers."""

    works: Works
    simulators: ProviderSimulators

    async def consent(self, url: str) -> dict[str, str]:
        """What the provider's redirect brings back when the user allows it."""
        provider = urlsplit(url).path.split("/")[1]
        self.simulators.providers[provider].oauth.auto_consent = True
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
        assert answer.status_code == 302, answer.text
        return dict(parse_qsl(urlsplit(answer.headers["location"]).query))

    async def connect(self, provider: str = "hubspot", **options: Any) -> SourceId:
        connecting = self.works.engine.connecting
        asked = await connecting.begin(self.works.tenant_id, provider, **options)
        return (await connecting.finish(await self.consent(asked.url))).source_id

    async def token(self, source_id: SourceId) -> str:
        return await self.works.engine.tokens.access_token(self.works.tenant_id, source_id)

    async def expire(self, source_id: SourceId, seconds: float = 0) -> None:
        """The access token expires this many seconds from now; the provider rejects the present ones."""
        await self.works.value(
            "update ingest.source set token_expires_at = now() + make_interval(secs => $2)"
            " where source_id = $1 returning true",
            source_id,
            seconds,
        )

    def refreshes(self, provider: str = "hubspot") -> int:
        """How often the token endpoint was asked to refresh."""
        return sum(
            entry.arguments.get("grant_type") == "refresh_token"
            for entry in self.simulators.ledger.entries(provider, "token")
        )

    async def source(self, source_id: SourceId) -> dict[str, Any]:
        async with self.works.database.connect("admin") as admin:
            row = await admin.fetchrow("select * from ingest.source where source_id = $1", source_id)
        assert row is not None
        return dict(row)

    async def generations(self, source_id: SourceId, purpose: str) -> list[tuple[int, bool]]:
        """Each generation of a secret, and whether it is orphaned."""
        async with self.works.database.connect("admin") as admin:
            rows = await admin.fetch(
                "select generation, orphaned_at is not null from vault.secret"
                " where source_id = $1 and purpose = $2 order by generation",
                source_id,
                purpose,
            )
        return [tuple(row) for row in rows]

    def secrets_of(self, provider: str) -> list[str]:
        """Every token the provider has issued so far, and our client's secret."""
        oauth = self.simulators.providers[provider].oauth
        return [*oauth.grants.access, *oauth.grants.refresh, oauth.client_secret]


@asynccontextmanager
async def connections(
    database: Database, folder: Path, *, sizes: Any = None, **settings: Any
) -> AsyncIterator[Connections]:
    async with (
        serving_providers(**(sizes or {"contacts": 5})) as simulators,
        works_on(database, folder, **{**simulators.settings(), **settings}) as works,
    ):
        yield Connections(works, simulators)


@asynccontextmanager
async def served(database: Database, folder: Path) -> AsyncIterator[tuple[ApiServer, ProviderSimulators]]:
    """The API beside the simulated providers, whose users consent at once."""
    async with (
        serving_providers(contacts=5) as simulators,
        api_server(database, folder, **simulators.settings()) as server,
    ):
        server.engine.connecting.redirect_uri = f"{server.url}/oauth/callback"
        for provider in simulators.providers.values():
            provider.oauth.auto_consent = True
        yield server, simulators
