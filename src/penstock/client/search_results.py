"""The response to a search."""

from __future__ import annotations

from uuid import UUID

from penstock.client.results import Heading, Result


class Snippet(Result):
    """A piece of text, and where the words of the question are in it (from, to)."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    html: str = ""


class SearchHit(Result):
    """A chunk of a document, or a client; ordered by `score`, which is explained by its parts."""

    kind: str
    score: float
    relevance: float = 0.0
    """How likely it is to answer the question, 0 to 1."""
    vector_score: float | None = None
    text_score: float | None = None
    document_id: UUID | None = None
    client_id: UUID | None = None
    project_id: UUID
    title: str | None = None
    filename: str | None = None
    path: str | None = None
    mime_type: str | None = None
    heading_path: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    page_from: int | None = None
    page_to: int | None = None
    text: str
    snippet: Snippet
    link: str | None = None
    rerank_score: float | None = None
    """How well it answers the question by the reranker; None if none read it."""


class UnavailableEmbedder(Result):
    """A model the search had to do without, and the projects that use it."""

    embedder: str
    reason: str
    projects: tuple[str, ...] = ()


class SearchAnswer(Result):
    hits: tuple[SearchHit, ...]
    took_ms: float
    models: tuple[str, ...] = ()
    read_as: str | None = None
    """The query as local models read it, if a word that no document contains was taken for a similar one."""
    no_good_match: bool = False
    """No hit is relevant enough; without `min_score` the closest ones are returned anyway."""
    degraded: tuple[str, ...] = ()
    """`vector`: at least one model did not embed the question; `unavailable` says which and why. `reranker`:
    the hits are in the order they have without it."""
    unavailable: tuple[UnavailableEmbedder, ...] = ()
