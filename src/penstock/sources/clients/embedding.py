"""Keeps the embeddings of a source's clients current, and groups the clients that changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from penstock.embed.cached import CachedEmbedding, OverBudget, TextToEmbed
from penstock.embed.tokens import counter
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderRefused, EmbedderUnavailable
from penstock.index.vectors import as_text
from penstock.model import SourceId, TenantId
from penstock.observe import get_logger
from penstock.sources.clients.grouping import group_clients
from penstock.sources.sync.one_ahead import OneAhead

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.embed.embedders import Embedders
    from penstock.model import Embedder

log = get_logger(__name__)

BATCH: Final = 500
QUIET_SECONDS: Final = 600.0
AWAY: Final = (EmbedderBusy, EmbedderFailed, EmbedderRefused, EmbedderUnavailable)
EMBEDDER: Final = "select ingest.source_embedder($1)"
TO_EMBED: Final = "select * from ingest.clients_to_embed($1, $2, $3, $4)"
PROJECTS: Final = "select * from all_tenants.projects_with_clients_to_embed()"
MANUAL_TO_EMBED: Final = "select * from ingest.manual_clients_to_embed($1, $2, $3)"
PUT: Final = "select ingest.put_client_embeddings($1, $2, $3, $4, $5)"


@dataclass(frozen=True, slots=True)
class _Client:
    """`text_sha256` is of the whole text; the embedder may get less of it."""

    client_id: UUID
    text_sha256: bytes
    given: TextToEmbed

    @property
    def sha256(self) -> bytes:
        return hashlib.sha256(self.given.text.encode()).digest()


class ClientEmbedding:
    """Shared by all syncs of a worker."""

    def __init__(self, tenants: TenantPool, embeds: Embedders) -> None:
        self._tenants = tenants
        self._embeds = embeds
        self._cached = CachedEmbedding(tenants, embeds)

    async def refresh(self, tenant_id: TenantId, source_id: SourceId) -> int:
        """Embed the clients whose text or model changed and return how many texts were embedded.

        Clients that changed are grouped meanwhile; neither needs the other.

        Without an embedder or a budget the clients stay as they are, found by their words, and the next sync
        tries again.
        """
        async with OneAhead() as beside:
            await beside.start(group_clients(self._tenants, tenant_id))
            return await self._embed_changed(tenant_id, source_id)

    async def refresh_manual(self) -> int:
        """Embed the clients of all tenants that people wrote or changed; returns how many were embedded."""
        async with self._tenants.all_tenants() as conn:
            projects = await conn.fetch(PROJECTS)
        embedded = 0
        away: set[str] = set()
        for project in projects:
            name = project["embedder"]
            if name in away:  # asked once a round, however many projects use it
                continue
            try:
                embedded += await self._embed_all(
                    project["tenant_id"], name, MANUAL_TO_EMBED, project["project_id"]
                )
            except OverBudget as over:
                log.throttled(
                    "clients_not_embedded",
                    every=QUIET_SECONDS,
                    key=str(project["tenant_id"]),
                    reason="budget",
                    needed=over.needed,
                    left=over.left,
                )
            except AWAY as down:
                away.add(name)
                log.throttled("clients_not_embedded", every=QUIET_SECONDS, key=name, reason=down.message)
        return embedded

    async def _embed_changed(self, tenant_id: TenantId, source_id: SourceId) -> int:
        async with self._tenants.transaction(tenant_id) as conn:
            name: str | None = await conn.fetchval(EMBEDDER, source_id)
        if name is None or name == "none":
            return 0
        try:
            return await self._embed_all(tenant_id, name, TO_EMBED, source_id)
        except OverBudget as over:
            log.warning("clients_not_embedded", reason="budget", needed=over.needed, left=over.left)
        except AWAY as down:
            log.warning("clients_not_embedded", reason=down.message)
        return 0

    async def _embed_all(self, tenant_id: TenantId, name: str, statement: str, owner: UUID) -> int:
        """All that the statement finds for a source or a project, in batches. OverBudget, or one of AWAY."""
        embedded, after = 0, None
        embedder = await self._embeds.embedder(name)
        while found := await self._next(tenant_id, statement, owner, embedder, after):
            embedded += await self._embed(tenant_id, name, embedder, found)
            after = found[-1].client_id
        return embedded

    async def _next(
        self, tenant_id: TenantId, statement: str, owner: UUID, embedder: Embedder, after: UUID | None
    ) -> Sequence[_Client]:
        given = (owner, embedder.model, after, BATCH) if statement is TO_EMBED else (owner, after, BATCH)
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch(statement, *given)
        return [
            _Client(row["client_id"], row["text_sha256"], _fitting(row["text"], embedder)) for row in rows
        ]

    async def _embed(
        self, tenant_id: TenantId, name: str, embedder: Embedder, clients: Sequence[_Client]
    ) -> int:
        wanted = {client.sha256: client.given for client in clients}
        found = await self._cached.vectors(tenant_id, name, embedder, wanted, texts=len(clients))
        async with self._tenants.transaction(tenant_id) as conn:
            await conn.execute(
                PUT,
                embedder.model,
                [client.client_id for client in clients],
                [client.text_sha256 for client in clients],
                [found.vectors[client.sha256] for client in clients],
                [as_text(found.vectors[client.sha256]) for client in clients],
            )
        return found.embedded


def _fitting(text: str, embedder: Embedder) -> TextToEmbed:
    """As much of the beginning as the embedder takes."""
    count = counter(embedder.tokenizer).count
    tokens = count(text)
    while tokens > embedder.max_tokens:
        text = text[: max(1, len(text) * embedder.max_tokens // tokens - 1)]
        tokens = count(text)
    return TextToEmbed(text, tokens)
