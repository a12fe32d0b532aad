"""What a search answers."""

from __future__ import annotations

from uuid import UUID

from penstock.client.results import Result


class Snippet(Result):
    """A piece of the text, and where in it the words of the question stand (from, to)."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    html: str = ""


class SearchHit(Result):
    """A chunk of a document, or a client; ordered by `score`, which its parts explain."""

    kind: str
    score: float
    vector_score: float | None = None
    text_score: float | None = None
    document_id: UUID | None = None
    client_id: UUID | None = None
    project_id: UUID
    title: str | None = None
    filename: str | None = None
    mime_type: str | None = None
    heading_path: tuple[str, ...] = ()
    page_from: int | None = None
    page_to: int | None = None
    text: str
    snippet: Snippet
    link: str | None = None


class SearchAnswer(Result):
    hits: tuple[SearchHit, ...]
    took_ms: float
    models: tuple[str, ...] = ()
