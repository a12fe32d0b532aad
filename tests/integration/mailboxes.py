"""Mailboxes at simulated providers, connected to a running engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.model import SourceId
from penstock.simulators.providers import ProviderSimulators, serving_providers
from penstock.simulators.providers.world.delivery import DeliveredMail
from tests.integration.connecting_sources import Connections
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.scripted_source import settled, synced
from tests.plugins.workers import eventually

KINDS = ("outlook", "gmail")


@dataclass(slots=True)
class Mailroom:
    """One connected mailbox; Gmail's without threads, so that both have one stream."""

    works: Works
    simulators: ProviderSimulators
    kind: str
    source_id: SourceId

    def deliver(self, template: str = "invoice", **more: Any) -> DeliveredMail:
        return self.simulators.deliver(self.kind, template, **more)  # type: ignore[arg-type]

    def change(self, action: str, mail: DeliveredMail, **more: Any) -> None:
        self.simulators.change("mails", action, id=mail.id, fields={"provider": self.kind, **more})

    async def sync(self, *, full: bool = False) -> dict[str, Any]:
        job = await synced(self.works, self.source_id, full=full)
        assert job["status"] == "completed", (job["error_code"], job["error_message"])
        return job

    async def rows(self, query: str, *arguments: object) -> list[dict[str, Any]]:
        return await self.works.rows(query, *arguments)

    async def files(self) -> list[str]:
        """The names of all live documents that came with mails, sorted."""
        rows = await self.rows(
            "select filename from ingest.document where deleted_at is null and parent_document_id is null"
        )
        return sorted(row["filename"] for row in rows)

    async def items(self) -> list[dict[str, Any]]:
        return await self.rows("select * from ingest.source_document order by created_at, external_id")

    async def ingestions(self) -> list[dict[str, Any]]:
        """Those of mails, the oldest first; not those of files inside files."""
        return await self.rows(
            "select *, source_metadata::jsonb as noted from ingest.ingestion where source_id is not null"
            " order by ingestion_id"
        )

    async def indexed(self, count: int) -> None:
        """Wait until this many documents are indexed."""

        async def is_so() -> bool:
            query = "select count(*) from ingest.document where status = 'indexed' and deleted_at is null"
            return int(await self.works.value(query)) == count

        await eventually(is_so, within=120)


@asynccontextmanager
async def mailroom(
    database: Database,
    folder: Path,
    kind: str,
    config: dict[str, Any] | None = None,
    *,
    mails: int = 0,
    working: bool = True,
    **settings: Any,
) -> AsyncIterator[Mailroom]:
    """A connected mailbox whose first sync has ended, if a worker works."""
    async with (
        serving_providers(contacts=3, mails=mails) as simulators,
        works_on(database, folder, **{**simulators.settings(), **settings}) as works,
    ):
        source_id = await Connections(works, simulators).connect(kind)
        chosen = {**({"threads": False} if kind == "gmail" else {}), **(config or {})}
        await works.engine.sources.configure(works.tenant_id, source_id, chosen)
        room = Mailroom(works, simulators, kind, source_id)
        if not working:
            yield room
            return
        async with works.working():
            job = await settled(works, source_id)
            assert job["status"] == "completed", (job["error_code"], job["error_message"])
            yield room
