"""Runs a search: embeds the query with the models in use, then queries the index and the database."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Literal

from penstock.db import Connection, Record
from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable, InvalidArgument
from penstock.index.protocol import Gathered, Hit, Index, IndexQuery, QueryVector, hits_as_json
from penstock.index.vectors import as_text
from penstock.model import TenantId
from penstock.observe import get_logger
from penstock.search.answer import SearchAnswer, SearchHit, SearchSteps, Snippet, UnavailableEmbedder
from penstock.search.probing import (
    EMBED_SECONDS,
    EmbedderSource,
    Probing,
    Stage,
    check_indexed,
    of_stage,
    withheld,
)
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
from penstock.search.reranking.ordering import Reranking

log = get_logger(__name__)

DEPTH = 100
"""Minimum number of hits of each kind to fuse."""
DEEPER = 10
"""An index is asked once more, for this many times as many, if a few long documents hide the others."""

OPEN = """
select o.budget_left, o.respelt, m.project_id, m.slug, m.embedder, m.next_embedder, m.fallback_embedders
from (
  select case when $2 then accounts.budget_left() end as budget_left,
    case when $3 then search.respelt($4) end as respelt
  offset 0  -- once, not for each project
) o
left join search.models($1) m on true
"""
"""What has to be known before the query is embedded, in one round trip: a row for each project, or one."""
BACKGROUND = "select mean, deviation, sampled from search.background($1, $2)"
NOTE_USAGE = "select accounts.note_usage($1, $2, $3, $4, 0)"
OVER_BUDGET = "the tenant's budget of embedded tokens for this month is used up"
SEARCH = "select * from search.find($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"


class Search:
    def __init__(
        self,
        tenants: TenantPool,
        embedders: EmbedderSource,
        index: Index,
        *,
        embed_seconds: float = EMBED_SECONDS,
        reranking: Reranking | None = None,
    ) -> None:
        self._tenants = tenants
        self._probing = Probing(embedders, embed_seconds)
        self._index = index
        self._reranking = reranking

    async def search(
        self, tenant_id: TenantId, query: SearchQuery, stage: Stage | None = None
    ) -> SearchAnswer:
        """Raises NotFound for an unknown project; without an embedder it uses keywords only.

        `stage`: what a re-index will publish, or what is live without what the re-index prepares.
        """
        started = perf_counter()
        reranking = self._chosen(query)
        async with self._tenants.transaction(tenant_id) as connection:
            embeds = query.mode != "text"
            opened = await connection.fetch(
                OPEN, query.projects, embeds or reranking is not None, embeds, query.query
            )
        left, respelt = opened[0]["budget_left"], opened[0]["respelt"]
        found = [dict(row) for row in opened if row["project_id"] is not None]
        projects = of_stage(found, stage)
        check_indexed(projects, query.embedder)
        probes: list[QueryVector] = []
        unavailable: list[UnavailableEmbedder] = []
        is_over_budget = left is not None and left <= 0
        limit = query.limit
        if reranking is not None and not is_over_budget:
            limit = max(limit, reranking.passages)
        if is_over_budget and query.mode != "text":
            unavailable = withheld(projects, OVER_BUDGET)
        elif query.mode != "text":
            probes, unavailable = await self._probing.probes(
                projects, query.query, query.embedder, respelt=respelt
            )
        embedded = perf_counter()
        mode = "text" if unavailable and not probes else query.mode
        project_ids = [project["project_id"] for project in projects]
        within = query.filter(project_ids if query.projects is not None else None, staged=stage == "staged")
        asked = IndexQuery(
            text=None if mode == "vector" else query.query,
            probes=probes,
            project_ids=project_ids,
            filter=within,
            depth=max(DEPTH, 2 * limit),
        )
        gathered, failure = await self._gather(tenant_id, asked, limit, query.per_document)
        if failure is not None:
            unavailable = withheld(projects, failure)
        asked_index = perf_counter()
        (rows, backgrounds), _ = await asyncio.gather(
            self._fused(
                tenant_id,
                query.model_copy(update={"mode": mode, "limit": limit}),
                within,
                probes,
                gathered,
            ),
            self._note_usage(tenant_id, probes),
        )
        hits = [_hit(row, backgrounds) for row in rows]
        fused = perf_counter()
        degraded: list[Literal["vector", "reranker"]] = ["vector"] if unavailable else []
        if reranking is not None:
            reranked = None
            if not is_over_budget:
                hits, reranked = await reranking.ordered(query.query, hits, query.per_document)
            if reranked is None:
                degraded.append("reranker")
            elif reranked.calls:
                await self._note(
                    tenant_id, reranking.model, reranked.tokens, reranked.calls, len(reranked.scores)
                )
            hits = hits[: query.limit]
        floor = FLOOR if query.min_score is None else query.min_score
        good = [hit for hit in hits if hit.relevance >= floor]
        ended = perf_counter()
        return SearchAnswer(
            steps=_steps(started, embedded, asked_index, fused, ended) if query.explain else None,
            hits=tuple(hits if query.min_score is None else good),
            no_good_match=bool(hits) and not good,
            took_ms=round((ended - started) * 1000, 3),
            models=tuple(probe.model for probe in probes),
            read_as=respelt if any(probe.is_respelt for probe in probes) else None,
            degraded=tuple(degraded),
            unavailable=tuple(unavailable),
        )

    async def _fused(
        self,
        tenant_id: TenantId,
        query: SearchQuery,
        within: str,
        probes: Sequence[QueryVector],
        gathered: Gathered,
    ) -> tuple[list[Record], Backgrounds]:
        """The rows of search.find(), and what is needed to judge how relevant they are."""
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
                query.per_document,
                query.joined,
                any(probe.is_respelt for probe in probes),
            )
            return rows, await _backgrounds(connection, probes, gathered.near)

    def _chosen(self, query: SearchQuery) -> Reranking | None:
        """The reranker, unless the query does without; InvalidArgument if it wants one and there is none."""
        if query.rerank and self._reranking is None:
            raise InvalidArgument("no reranker is configured", "rerank", "Set PENSTOCK_RERANKER")
        return None if query.rerank is False else self._reranking

    async def _gather(
        self, tenant_id: TenantId, asked: IndexQuery, limit: int, per_document: int
    ) -> tuple[Gathered, str | None]:
        """The hits of the index; while it fails, the database finds documents by their words."""
        try:
            gathered = await self._index.gather(tenant_id, asked)
            if _hides_documents(gathered, asked.depth, limit, per_document):
                gathered = await self._index.gather(tenant_id, replace(asked, depth=DEEPER * asked.depth))
            return gathered, None
        except IndexUnavailable as down:
            if asked.text is None:
                raise
            log.throttled("search_degraded", every=10, index=down.index, reason=down.reason)
            return Gathered(near=[]), down.message

    async def _note_usage(self, tenant_id: TenantId, probes: Sequence[QueryVector]) -> None:
        """Record the query's tokens, like those of documents."""
        if not probes:
            return
        async with self._tenants.transaction(tenant_id, durable=False) as connection:
            for probe in sorted(probes, key=lambda probe: probe.model):
                await connection.execute(NOTE_USAGE, probe.model, probe.tokens, 1, 1)

    async def _note(self, tenant_id: TenantId, model: str, tokens: int, calls: int, texts: int) -> None:
        async with self._tenants.transaction(tenant_id, durable=False) as connection:
            await connection.execute(NOTE_USAGE, model, tokens, calls, texts)


def _hides_documents(gathered: Gathered, depth: int, limit: int, per_document: int) -> bool:
    """Whether a list is full and yet all of them have too few documents, as search.gathered() sees it."""
    lists = [hits for hits in (gathered.near, gathered.matched) if hits is not None]
    full = any(count >= depth for hits in lists for count in Counter(hit.model for hit in hits).values())
    passages = Counter(
        document_id for document_id, _ in {(hit.document_id, hit.ordinal) for hits in lists for hit in hits}
    )
    return full and sum(min(count, per_document) for count in passages.values()) < limit


def _steps(started: float, embedded: float, asked: float, fused: float, ended: float) -> SearchSteps:
    return SearchSteps(
        embed_ms=round((embedded - started) * 1000, 3),
        index_ms=round((asked - embedded) * 1000, 3),
        fuse_ms=round((fused - asked) * 1000, 3),
        rerank_ms=round((ended - fused) * 1000, 3),
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
    hit = SearchHit(
        **{**row, "snippet": Snippet.parse(row["snippet"]), "headings": json.loads(row["headings"])}
    )
    return hit.model_copy(update={"relevance": relevance_of(hit, backgrounds)})
