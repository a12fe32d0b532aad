"""The search as a tool: what was found, with what is needed to cite it."""

from __future__ import annotations

from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import Field

from penstock.mcp.answers import Answer
from penstock.model import TenantId
from penstock.product.services import Services
from penstock.search import SearchHit, SearchQuery

Mode: TypeAlias = Literal["hybrid", "vector", "text"]


class Hit(Answer):
    """A passage of a document, or a client."""

    kind: Literal["chunk", "client"]
    document_id: UUID | None
    client_id: UUID | None
    title: str | None
    page: int | None
    heading: str | None
    text: str
    ordinal: int | None = Field(description="The passage's place in its document.")
    score: float
    relevance: float = Field(description="How likely it is to answer the question, 0 to 1.")

    @classmethod
    def of(cls, hit: SearchHit) -> Hit:
        return cls(
            kind=hit.kind,
            document_id=hit.document_id,
            client_id=hit.client_id,
            title=hit.title or hit.filename,
            page=hit.page_from,
            heading=" > ".join(hit.heading_path) or None,
            text=hit.text,
            ordinal=hit.ordinal,
            score=hit.score,
            relevance=hit.relevance,
        )


class Found(Answer):
    hits: list[Hit]
    no_good_match: bool = Field(
        default=False, description="Nothing fits the question; the hits are only the nearest there are."
    )
    note: str | None = Field(default=None, description="What to know before you use the hits.")
    degraded: list[str] = Field(
        default_factory=list,
        description="What the search had to do without; 'vector': some passages were found by words only.",
    )


async def find(
    product: Services,
    tenant_id: TenantId,
    query: str,
    *,
    project: str | None,
    limit: int,
    mode: Mode,
    min_score: float | None = None,
) -> Found:
    """Search one project, or all of the tenant's."""
    asked = SearchQuery(
        query=query,
        projects=None if project is None else [project],
        limit=limit,
        mode=mode,
        min_score=min_score,
    )
    answer = await product.search.search(tenant_id, asked)
    note = None
    if answer.no_good_match:
        note = "No good match." + (
            " These passages are only the nearest; do not rely on them." if answer.hits else ""
        )
    return Found(
        hits=[Hit.of(hit) for hit in answer.hits],
        no_good_match=answer.no_good_match,
        note=note,
        degraded=list(answer.degraded),
    )
