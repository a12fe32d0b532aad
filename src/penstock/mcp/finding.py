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
        )


class Found(Answer):
    hits: list[Hit]


async def find(
    product: Services, tenant_id: TenantId, query: str, *, project: str | None, limit: int, mode: Mode
) -> Found:
    """Search one project, or all of the tenant's."""
    asked = SearchQuery(query=query, projects=None if project is None else [project], limit=limit, mode=mode)
    answer = await product.search.search(tenant_id, asked)
    return Found(hits=[Hit.of(hit) for hit in answer.hits])
