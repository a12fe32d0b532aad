"""Runs a search: embeds the query with the models in use, then queries the index and the database."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter

from penstock.db import Connection, Record
from penstock.db.tenancy import TenantPool
from penstock.index.protocol import Hit, Index, IndexQuery, QueryVector, hits_as_json
from penstock.index.vectors import as_text
from penstock.model import TenantId
from penstock.search.answer import SearchAnswer, SearchHit, SearchSteps, Snippet, UnavailableEmbedder
from penstock.search.probing import EMBED_SECONDS, EmbedderSource, Probing, check_indexed, withheld
from penstock.search.query import SearchQuery
from penstock.search.relevance import (
    CURVES,
    FLOOR,
    LEAST_SAMPLE,
    Background,
    Backgrounds,
    background_of,
    relevance_of,
)

DEPTH = 100
"""Minimum number of hits of each kind to fuse."""

MODELS = "select project_id, slug, embedder, next_embedder, fallback_embedders from search.models($1)"
BACKGROUND = "select mean, deviation, sampled from search.background($1, $2)"
BUDGET = "select accounts.budget_left()"
NOTE_USAGE = "select accounts.note_usage($1, $2, 1, 1, 0)"
OVER_BUDGET = "the tenant's budget of embedded tokens for this month is used up"
SEARCH = "select * from search.find($1, $2, $3, $4, $5, $6, $7, $8, $9)"


class Search:
    def __init__(
        self,
        tenants: TenantPool,
        embedders: EmbedderSource,
        index: Index,
        *,
        embed_seconds: float = EMBED_SECONDS,
    ) -> None:
        self._tenants = tenants
        self._probing = Probing(embedders, embed_seconds)
        self._index = index

    async def search(self, tenant_id: TenantId, query: SearchQuery) -> SearchAnswer:
        """Raises NotFound for an unknown project; without an embedder it uses keywords only."""
        started = perf_counter()
        async with self._tenants.transaction(tenant_id) as connection:
            projects = await connection.fetch(MODELS, query.projects)
            left = None if query.mode == "text" else await connection.fetchval(BUDGET)
        check_indexed(projects, query.embedder)
        probes: list[QueryVector] = []
        unavailable: list[UnavailableEmbedder] = []
        if left is not None and left <= 0:
            unavailable = withheld(projects, OVER_BUDGET)
        elif query.mode != "text":
            probes, unavailable = await self._probing.probes(projects, query.query, query.embedder)
        embedded = perf_counter()
        mode = "text" if unavailable and not probes else query.mode
        project_ids = [project["project_id"] for project in projects]
        within = query.filter(project_ids if query.projects is not None else None)
        asked = IndexQuery(
            text=None if mode == "vector" else query.query,
            probes=probes,
            project_ids=project_ids,
            filter=within,
            depth=max(DEPTH, 2 * query.limit),
        )
        gathered, _ = await asyncio.gather(
            self._index.gather(tenant_id, asked), self._note_usage(tenant_id, probes)
        )
        asked_index = perf_counter()
        async with self._tenants.transaction(tenant_id) as connection:
            rows = await connection.fetch(
                SEARCH,
                query.query,
                mode,
                query.limit,
                within,
                [probe.model for probe in probes],
                [as_text(probe.vector) for probe in probes],
                query.include_clients,
                _json(gathered.near),
                _json(gathered.matched),
            )
            backgrounds = await _backgrounds(connection, probes, gathered.near)
        hits = [_hit(row, backgrounds) for row in rows]
        floor = FLOOR if query.min_score is None else query.min_score
        good = [hit for hit in hits if hit.relevance >= floor]
        ended = perf_counter()
        return SearchAnswer(
            steps=_steps(started, embedded, asked_index, ended) if query.explain else None,
            hits=tuple(hits if query.min_score is None else good),
            no_good_match=bool(hits) and not good,
            took_ms=round((ended - started) * 1000, 3),
            models=tuple(probe.model for probe in probes),
            degraded=("vector",) if unavailable else (),
            unavailable=tuple(unavailable),
        )

    async def _note_usage(self, tenant_id: TenantId, probes: Sequence[QueryVector]) -> None:
        """Record the query's tokens, like those of documents."""
        if not probes:
            return
        async with self._tenants.transaction(tenant_id, durable=False) as connection:
            for probe in sorted(probes, key=lambda probe: probe.model):
                await connection.execute(NOTE_USAGE, probe.model, probe.tokens)


def _steps(started: float, embedded: float, asked: float, ended: float) -> SearchSteps:
    return SearchSteps(
        embed_ms=round((embedded - started) * 1000, 3),
        index_ms=round((asked - embedded) * 1000, 3),
        fuse_ms=round((ended - asked) * 1000, 3),
    )


async def _backgrounds(
    connection: Connection, probes: Sequence[QueryVector], near: Sequence[Hit] | None
) -> dict[str, Background]:
    """Only for models without a curve of their own."""
    found: dict[str, Background] = {}
    for probe in probes:
        if probe.model in CURVES:
            continue
        if near is not None:
            if (outside := background_of(near, probe.model)) is not None:
                found[probe.model] = outside
            continue
        row = await connection.fetchrow(BACKGROUND, probe.model, as_text(probe.vector))
        if row is not None and row["sampled"] >= LEAST_SAMPLE and row["deviation"]:
            found[probe.model] = Background(row["mean"], row["deviation"])
    return found


def _json(hits: Sequence[Hit] | None) -> str | None:
    return None if hits is None else hits_as_json(hits)


def _hit(row: Record, backgrounds: Backgrounds) -> SearchHit:
    hit = SearchHit(**{**row, "snippet": Snippet.parse(row["snippet"])})
    return hit.model_copy(update={"relevance": relevance_of(hit, backgrounds)})
