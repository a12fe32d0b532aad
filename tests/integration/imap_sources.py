"""A mailbox at a real IMAP server, connected to a running engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.model import SourceId
from penstock.sources.sources import Health
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.dovecot import Dovecot
from tests.plugins.scripted_source import settled, synced
from tests.plugins.workers import eventually


@dataclass(slots=True)
class ImapRoom:
    works: Works
    server: Dovecot
    source_id: SourceId

    async def sync(self, *, full: bool = False) -> dict[str, Any]:
        job = await synced(self.works, self.source_id, full=full)
        assert job["status"] == "completed", (job["error_code"], job["error_message"])
        return job

    async def health(self) -> Health:
        return (await self.works.engine.sources.show(self.works.tenant_id, self.source_id)).health

    async def becomes(self, state: str) -> Health:
        async def is_so() -> bool:
            return (await self.health()).state == state

        await eventually(is_so, within=120)
        return await self.health()

    async def rows(self, query: str, *arguments: object) -> list[dict[str, Any]]:
        return await self.works.rows(query, *arguments)

    async def files(self) -> list[str]:
        rows = await self.rows("select filename from ingest.document where deleted_at is null")
        return sorted(row["filename"] for row in rows)

    async def indexed(self, *names: str) -> None:
        """Wait until exactly these files are indexed."""

        async def is_so() -> bool:
            rows = await self.rows(
                "select filename from ingest.document where status = 'indexed' and deleted_at is null"
            )
            return sorted(row["filename"] for row in rows) == sorted(names)

        await eventually(is_so, within=120)


@asynccontextmanager
async def imap_room(
    database: Database,
    folder: Path,
    server: Dovecot,
    config: dict[str, Any] | None = None,
    *,
    watching: bool = False,
    working: bool = True,
    **settings: Any,
) -> AsyncIterator[ImapRoom]:
    """A source whose first sync has ended, if a worker works; without `watching` only syncs find mails."""
    chosen = {"imap_watches": 10 if watching else 0, **settings}
    async with works_on(database, folder, **chosen) as works:
        added = await works.engine.sources.add(
            works.tenant_id,
            "imap",
            {**server.config, **(config or {})},
            password=server.password,
            sync_every=None,
        )
        room = ImapRoom(works, server, added.source_id)
        if not working:
            yield room
            return
        async with works.working():
            job = await settled(works, added.source_id)
            assert job["status"] == "completed", (job["error_code"], job["error_message"])
            yield room
