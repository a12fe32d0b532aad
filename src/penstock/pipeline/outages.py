"""Tracks unavailable embedders for all workers, and tries each again until it responds."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from penstock.db.tenancy import TenantPool
from penstock.errors import EmbedderBusy, EmbedderUnavailable, PenstockError
from penstock.observe import get_logger

if TYPE_CHECKING:
    from penstock.embed.embedders import Embedders

log = get_logger(__name__)

PROBE_SECONDS = 10.0
RETURN_BATCH = 100
"""Documents moved back to their own embedder at a time."""

NOTE = "select ingest.note_outage($1, $2, $3)"
END = "select ingest.end_outage($1)"
DUE = "select ingest.due_probes()"
RETURN = "select all_tenants.return_from_fallback($1)"


class Outages:
    """The start of an outage is in Postgres, so all workers measure it alike."""

    def __init__(
        self,
        tenants: TenantPool,
        embeds: Embedders,
        *,
        fallback: str | None = None,
        fallback_after: float | None = None,
    ) -> None:
        self._tenants = tenants
        self._embeds = embeds
        self.fallback = fallback
        """The model used to index documents while their own is unavailable."""
        self.fallback_after = fallback_after
        """How many seconds to wait for the project's model first."""

    async def note(self, name: str, down: EmbedderBusy | EmbedderUnavailable) -> float:
        """Seconds after which a document that needs this embedder should be retried."""
        log.throttled("embedder_unavailable", every=10, embedder=name, reason=down.reason)
        async with self._tenants.all_tenants() as conn:
            return float(await conn.fetchval(NOTE, name, down.message, down.retry_after))

    async def end(self, name: str) -> None:
        async with self._tenants.all_tenants() as conn:
            if await conn.fetchval(END, name):
                log.info("embedder_recovered", embedder=name)

    async def maintain(self) -> None:
        """Try unavailable embedders again, then move documents from a fallback back to their own embedder."""
        async with self._tenants.all_tenants() as conn:
            due = [row[0] for row in await conn.fetch(DUE)]
        for name in due:
            await self._probe(name)
        async with self._tenants.all_tenants() as conn:
            returned = await conn.fetchval(RETURN, RETURN_BATCH)
        if returned:
            log.info("fallback_documents_returned", count=returned)

    async def _probe(self, name: str) -> None:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                embedder = await self._embeds.embedder(name)
                await embedder.embed(["penstock"])
        except (EmbedderBusy, EmbedderUnavailable) as down:
            await self.note(name, down)
        except TimeoutError:
            await self.note(name, EmbedderUnavailable(name, f"no answer in {PROBE_SECONDS:g} s"))
        except PenstockError as error:
            # It responds again, even if with an error: documents that use it will report why.
            log.warning("embedder_refused", embedder=name, error=error.message)
            await self.end(name)
        else:
            await self.end(name)
