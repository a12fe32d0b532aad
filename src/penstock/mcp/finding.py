"""The search tool: hits, with what is needed to cite them."""

from __future__ import annotations

from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import Field

from penstock.engine.services import Services
from penstock.mcp.answers import Answer
from penstock.model import TenantId
from penstock.search import SearchHit, SearchQuery

Mode: TypeAlias = Literal["hybrid", "vector", "text"]


class FoundPassage(Answer):
    """A passage of a document, or a client."""

    kind: Literal["chunk", "client"]
    document_id: UUID | None
    client_id: UUID | None
    title: str | None
    page: int | None
    heading: str | None = Field(description="The headings above its first words.")
    headings: list[str] = Field(
        default_factory=list, description="The headings that begin inside it, each with those above it."
    )
    text: str
    ordinal: int | None = Field(description="The passage's position in its document.")
    score: float
    relevance: float = Field(description="How likely it is to answer the question, 0 to 1.")

    @classmethod
    def of(cls, hit: SearchHit) -> FoundPassage:
        return cls(
            kind=hit.kind,
            document_id=hit.document_id,
            client_id=hit.client_id,
            title=hit.title or hit.filename,
            page=hit.page_from,
            heading=" > ".join(hit.heading_path) or None,
            headings=[" > ".join(path) for path in hit.further_headings],
            text=hit.text,
            ordinal=hit.ordinal,
            score=hit.score,
            relevance=hit.relevance,
        )


class FoundPassages(Answer):
    hits: list[FoundPassage]
    no_good_match: bool = Field(
        default=False, description=("Nothing answers the question well; the hits are only the closest ones.")
    )
    note: str | None = Field(default=None, description="What to know before using the hits.")
    degraded: list[str] = Field(
        default_factory=list,
        description="What the search had to do without; 'vector': some passages were found by words only; "
        "'reranker': they are in the order they have without it.",
    )


async def find(
    engine: Services,
    tenant_id: TenantId,
    query: str,
    *,
    project: str | None,
    limit: int,
    mode: Mode,
    min_score: float | None = None,
) -> FoundPassages:
    """Search one project, or all of the tenant's."""
    asked = SearchQuery(
        query=query,
        projects=None if project is None else [project],
        limit=limit,
        mode=mode,
        min_score=min_score,
    )
    answer = await engine.search.search(tenant_id, asked)
    note = None
    if answer.no_good_match:
        note = "No good match." + (
            " These passages are only the closest ones; do not rely on them." if answer.hits else ""
        )
    if answer.read_as is not None:
        note = " ".join(filter(None, (f"The query was read as: {answer.read_as}.", note)))
    return FoundPassages(
        hits=[FoundPassage.of(hit) for hit in answer.hits],
        no_good_match=answer.no_good_match,
        note=note,
        degraded=list(answer.degraded),
    )
