"""What a search found, with the parts of every score."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from html import escape
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, computed_field

OPEN, CLOSE = "\ue000", "\ue001"
"""What ingest.search() puts around a match: characters of no language."""


class Snippet(BaseModel):
    """A piece of the text, and where in it the words of the query stand (from, to)."""

    model_config = ConfigDict(frozen=True)

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, marked: str) -> Snippet:
        text: list[str] = []
        marks: list[tuple[int, int]] = []
        length = 0
        for place, part in enumerate(marked.replace(CLOSE, OPEN).split(OPEN)):
            if place % 2 and part:
                marks.append((length, length + len(part)))
            text.append(part)
            length += len(part)
        return cls(text="".join(text), marks=tuple(marks))

    def marked(self, before: str, after: str) -> str:
        """The text with something around each match, for a terminal."""
        return self._wrapped(before, after, lambda part: part)

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way
    @property
    def html(self) -> str:
        """Escaped, with each match in <mark>."""
        return self._wrapped("<mark>", "</mark>", escape)

    def _wrapped(self, before: str, after: str, clean: Callable[[str], str]) -> str:
        parts: list[str] = []
        done = 0
        for start, end in self.marks:
            parts += (clean(self.text[done:start]), before, clean(self.text[start:end]), after)
            done = end
        return "".join((*parts, clean(self.text[done:])))


class SearchHit(BaseModel):
    """A chunk of a document, or a client; `score` is what the answer is ordered by."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["chunk", "client"]
    score: float
    vector_score: float | None
    vector_rank: int | None
    text_score: float | None
    text_rank: int | None
    coverage: float | None = None
    """How much of the query's words it holds, rare words weighing more; none when the query has no words."""
    relevance: float = 0.0
    """How likely it is to answer the query, 0 to 1, by a calibration of its model; the order is `score`'s."""
    model: str | None
    document_id: UUID | None
    client_id: UUID | None
    project_id: UUID
    source_id: UUID | None
    chunk_id: UUID | None
    ordinal: int | None
    title: str | None
    """The document's title, or the client's name."""
    filename: str | None
    path: str | None
    """Where the file was that the document came from, if somebody said."""
    mime_type: str | None
    author: str | None
    language: str | None
    document_created_at: datetime | None
    document_modified_at: datetime | None
    heading_path: tuple[str, ...]
    page_from: int | None
    page_to: int | None
    text: str
    snippet: Snippet


class UnavailableEmbedder(BaseModel):
    """A model a search had to do without, and the projects whose documents it would have compared."""

    model_config = ConfigDict(frozen=True)

    embedder: str
    reason: str
    projects: tuple[str, ...]


class SearchAnswer(BaseModel):
    model_config = ConfigDict(frozen=True)

    hits: tuple[SearchHit, ...]
    took_ms: float
    models: tuple[str, ...]
    """The models the query was embedded with; none for a search by text."""
    degraded: tuple[Literal["vector"], ...] = ()
    """What the search had to do without; `vector`: at least one model did not embed the query."""
    unavailable: tuple[UnavailableEmbedder, ...] = ()
    no_good_match: bool = False
    """No hit reaches the least relevance; without `min_score` the nearest are listed all the same."""
    """Which models those were, and why."""

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way
    @property
    def model(self) -> str | None:
        """The model, where it is one."""
        return self.models[0] if len(self.models) == 1 else None
