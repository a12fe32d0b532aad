"""Runs a search: embeds the query in the models in use, and lets the index and the database look."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

from penstock.db import Record
from penstock.db.tenancy import TenantPool
from penstock.index.protocol import Hit, Index, IndexQuery, Probe, hits_as_json
from penstock.index.vectors import as_text
from penstock.model import Embedder, TenantId
from penstock.search.answer import SearchAnswer, SearchHit, Snippet
from penstock.search.query import SearchQuery

DEPTH = 100
"""The least hits of each kind that are fused."""

MODELS = "select project_id, embedder, next_embedder from ingest.search_models($1)"
SEARCH = "select * from ingest.search($1, $2, $3, $4, $5, $6, $7, $8, $9)"


class EmbedderSource(Protocol):
    async def embedder(self, name: str) -> Embedder:
        """The embedder of this name in a project's settings."""


class Search:
    def __init__(self, tenants: TenantPool, embedders: EmbedderSource, index: Index) -> None:
        self._tenants = tenants
        self._embedders = embedders
        self._index = index

    async def search(self, tenant_id: TenantId, query: SearchQuery) -> SearchAnswer:
        """Raises NotFound for a project that is not there, and what the embedder raises."""
        started = perf_counter()
        async with self._tenants.transaction(tenant_id) as connection:
            projects = await connection.fetch(MODELS, query.projects)
        probes = [] if query.mode == "text" else await self._probes(projects, query.query)
        project_ids = [project["project_id"] for project in projects]
        within = query.filter(project_ids if query.projects is not None else None)
        gathered = await self._index.gather(
            tenant_id,
            IndexQuery(
                text=None if query.mode == "vector" else query.query,
                probes=probes,
                project_ids=project_ids,
                filter=within,
                depth=max(DEPTH, 2 * query.limit),
            ),
        )
        async with self._tenants.transaction(tenant_id) as connection:
            rows = await connection.fetch(
                SEARCH,
                query.query,
                query.mode,
                query.limit,
                within,
                [probe.model for probe in probes],
                [as_text(probe.vector) for probe in probes],
                query.include_clients,
                _json(gathered.near),
                _json(gathered.matched),
            )
        return SearchAnswer(
            hits=tuple(_hit(row) for row in rows),
            took_ms=round((perf_counter() - started) * 1000, 3),
            models=tuple(probe.model for probe in probes),
        )

    async def _probes(self, projects: Sequence[Record], text: str) -> list[Probe]:
        """One vector a model. A project may flip to its next embedder meanwhile, so that one counts too."""
        names = {project[column] for project in projects for column in ("embedder", "next_embedder")} - {None}
        found: dict[str, Embedder] = {}
        for name in sorted(names):
            embedder = await self._embedders.embedder(name)
            found[embedder.model] = embedder
        return [
            Probe(model, (await embedder.embed([text], "query")).vectors[0])
            for model, embedder in found.items()
        ]


def _json(hits: Sequence[Hit] | None) -> str | None:
    return None if hits is None else hits_as_json(hits)


def _hit(row: Record) -> SearchHit:
    return SearchHit(**{**row, "snippet": Snippet.parse(row["snippet"])})
