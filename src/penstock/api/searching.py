"""Search over HTTP: a body with every filter, or a question in the URL."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import METADATA_BYTES, parse_object, storable
from penstock.api.parameters import Searcher
from penstock.errors import InvalidArgument
from penstock.model import TenantId
from penstock.search import SearchHit, SearchQuery, UnavailableEmbedder
from penstock.search.answer import ScoreParts, SearchSteps, score_parts
from penstock.search.query import LONGEST_QUERY, Mode

router = APIRouter(route_class=GuardedRoute, tags=["Search"], prefix="/v1/search")


class FoundHit(SearchHit):
    link: str | None = Field(description="The document's URL in this API.")
    scores: ScoreParts = Field(description="What the score is made of.")


class SearchResponse(BaseModel):
    """Search results, best first; `models` are those that embedded the question.

    `degraded` lists what the search had to do without: `vector` if an embedder listed in `unavailable` did
    not answer, so that documents of its projects were found by words only; `reranker` if it did not answer,
    so that the hits are in the order they have without it. `no_good_match`: no hit is relevant enough;
    without `min_score` the closest ones are returned anyway.
    """

    model_config = ConfigDict(frozen=True)

    hits: list[FoundHit]
    took_ms: float
    steps: SearchSteps | None = Field(default=None, description="How long each step took, with `explain`.")
    models: list[str]
    read_as: str | None = Field(
        default=None,
        description="The query as local models read it, if a word that no document contains was taken for a"
        " similar one.",
    )
    no_good_match: bool
    degraded: list[str]
    unavailable: list[UnavailableEmbedder]


@router.post("", operation_id="search")
async def search(request: Request, caller: Searcher, body: Annotated[SearchQuery, Body()]) -> SearchResponse:
    """Search by meaning and by words; filters are applied before the hits are chosen."""
    if body.metadata is not None:
        _check(body.metadata)
    return await _found(request, caller.tenant_id, body)


@router.get("", operation_id="searchByAddress")
async def search_by_address(
    request: Request,
    caller: Searcher,
    q: Annotated[
        str, Query(min_length=1, max_length=LONGEST_QUERY, pattern=r"\S", description="The question.")
    ],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    mode: Mode = "hybrid",
    min_score: Annotated[
        float | None, Query(ge=0, le=1, description="The minimum relevance of a hit.")
    ] = None,
    project: Annotated[
        list[str] | None, Query(max_length=50, description=("Project slugs; may be repeated."))
    ] = None,
    type: Annotated[list[str] | None, Query(max_length=100, description="Media types.")] = None,  # noqa: A002 - the parameter's name
    metadata: Annotated[str | None, Query(max_length=METADATA_BYTES, description="A JSON object.")] = None,
) -> SearchResponse:
    """Search from a browser or curl, with the most common filters."""
    query = SearchQuery(
        query=q,
        limit=limit,
        mode=mode,
        min_score=min_score,
        projects=project or None,
        types=type or None,
        metadata=parse_object(metadata, "metadata") or None,
    )
    return await _found(request, caller.tenant_id, query)


async def _found(request: Request, tenant_id: TenantId, query: SearchQuery) -> SearchResponse:
    answer = await engine_of(request).search.search(tenant_id, query)
    return SearchResponse(
        hits=[
            FoundHit(
                **hit.__dict__,
                scores=score_parts(hit),
                link=None if hit.document_id is None else f"/v1/documents/{hit.document_id}",
            )
            for hit in answer.hits
        ],
        took_ms=answer.took_ms,
        steps=answer.steps,
        models=list(answer.models),
        read_as=answer.read_as,
        no_good_match=answer.no_good_match,
        degraded=list(answer.degraded),
        unavailable=list(answer.unavailable),
    )


def _check(metadata: dict[str, Any]) -> None:
    try:
        storable(metadata)
    except ValueError as wrong:
        raise InvalidArgument(f"metadata is invalid: {wrong}", "metadata", "Send plain JSON") from None
