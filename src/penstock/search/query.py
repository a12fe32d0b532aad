"""A validated search query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

Mode = Literal["hybrid", "vector", "text"]
LONGEST_QUERY = 16_000


def _in_utc(moment: datetime) -> datetime:
    """A time without a zone is UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _without_nul(text: object) -> object:
    """Remove NULs, which Postgres cannot store."""
    return text.replace("\x00", " ") if isinstance(text, str) else text


Moment = Annotated[datetime, AfterValidator(_in_utc)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]


class SearchOptions(TypedDict, total=False):
    """Options of a search; all filters must match, and a list matches any of its values."""

    mode: Mode
    limit: int
    per_document: int
    min_score: float | None
    projects: list[str] | None
    source_ids: list[UUID] | None
    types: list[str] | None
    document_ids: list[UUID] | None
    created_after: datetime | None
    created_before: datetime | None
    modified_after: datetime | None
    modified_before: datetime | None
    metadata: dict[str, Any] | None
    include_clients: bool
    embedder: str | None
    joined: bool
    rerank: bool | None
    explain: bool


class SearchQuery(BaseModel):
    """All filters must match; a list matches any of its values. Times are the document's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_QUERY),
        BeforeValidator(_without_nul),
    ]
    mode: Mode = "hybrid"
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    per_document: Annotated[int, Field(ge=1, le=100)] = 1
    """Passages of one document to list while other documents match; more only fill up the limit."""
    joined: bool = False
    """Join a passage with the ones before and after it, if they match as well."""
    min_score: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    """Minimum relevance of a hit; None: all are listed, and `no_good_match` tells if none is good."""
    projects: Annotated[list[Words] | None, Field(min_length=1, max_length=1_000)] = None
    """Slugs or ids; None: all of the tenant's."""
    source_ids: Annotated[list[UUID] | None, Field(min_length=1, max_length=1_000)] = None
    types: Annotated[list[Words] | None, Field(min_length=1, max_length=100)] = None
    """Media types, such as application/pdf."""
    document_ids: Annotated[list[UUID] | None, Field(min_length=1, max_length=1_000)] = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    modified_after: Moment | None = None
    modified_before: Moment | None = None
    metadata: Annotated[dict[str, Any] | None, Field(min_length=1)] = None
    """What the document's metadata must contain."""
    include_clients: bool = True
    """Clients only have a project and a source: any other filter excludes them."""
    embedder: Words | None = None
    """Search by meaning with this model only, to compare models; documents must be indexed with it."""
    rerank: bool | None = None
    """Whether the reranker of the settings orders the best hits; None: if there is one."""
    explain: bool = False
    """Also say how long each step took."""

    def filter(self, project_ids: Sequence[UUID] | None, *, staged: bool = False) -> str:
        """As search.document_filter() reads it; `staged`: what a re-index will publish, not what is live."""
        given: dict[str, object] = {
            "projects": project_ids,
            "sources": self.source_ids,
            "types": self.types,
            "documents": self.document_ids,
            "created_after": self.created_after,
            "created_before": self.created_before,
            "modified_after": self.modified_after,
            "modified_before": self.modified_before,
            "metadata": self.metadata,
            "staged": staged or None,
        }
        return json.dumps({key: value for key, value in given.items() if value is not None}, default=str)
