"""Search results, with the parts of every score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from html import escape
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, computed_field

OPEN, CLOSE = "\ue000", "\ue001"
"""What search.find() puts around a match: characters of no language."""


class Snippet(BaseModel):
    """An excerpt of the text, and the positions of the query's words in it (from, to)."""

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

    def __str__(self) -> str:
        """The text on one line, for printing."""
        return " ".join(self.text.split())

    def marked(self, before: str, after: str) -> str:
        """The text with each match wrapped, for a terminal."""
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


class ScorePart(BaseModel):
    """A hit's place in one of the two lists that are fused, and its score there."""

    model_config = ConfigDict(frozen=True)

    rank: int
    score: float


class ScoreParts(BaseModel):
    """What a hit's score is made of: its places by words and by meaning, and the fused score."""

    model_config = ConfigDict(frozen=True)

    text: ScorePart | None
    vector: ScorePart | None
    fused: float
    reranked: float | None = None
    """By the reranker, if one read the passage."""


class HitHeading(BaseModel):
    """A heading inside a passage: where it starts in the document's text, and its path, itself included."""

    model_config = ConfigDict(frozen=True)

    start: int
    path: tuple[str, ...]


class SearchHit(BaseModel):
    """A chunk of a document, or a client; ordered by `rerank_score` if there is one, else by `score`."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["chunk", "client"]
    score: float
    vector_score: float | None
    vector_rank: int | None
    text_score: float | None
    text_rank: int | None
    coverage: float | None = None
    """Share of the query's words it contains, weighted by rarity; None if the query has no words."""
    relevance: float = 0.0
    """Calibrated probability that it answers the query, 0 to 1; results are ordered by `score`."""
    model: str | None
    document_id: UUID | None
    client_id: UUID | None
    project_id: UUID
    source_id: UUID | None
    chunk_id: UUID | None
    ordinal: int | None
    """Which passage of the document it is; of a joined one, the one that matches best."""
    ordinal_from: int | None = None
    ordinal_to: int | None = None
    """The first and the last passage that it is joined from."""
    title: str | None
    """The document's title, or the client's name."""
    filename: str | None
    path: str | None
    """The original path of the document's file, if known."""
    mime_type: str | None
    author: str | None
    language: str | None
    document_created_at: datetime | None
    document_modified_at: datetime | None
    heading_path: tuple[str, ...]
    """The headings above its first words."""
    headings: tuple[HitHeading, ...] = ()
    """Every heading inside it, in order."""
    page_from: int | None
    page_to: int | None
    char_start: int | None = None
    char_end: int | None = None
    """Where it is in the document's text."""
    text: str
    snippet: Snippet
    rerank_score: float | None = None
    """How well it answers the query by the reranker; None if none read it."""

    @property
    def page(self) -> int | None:
        """The page it starts on, if the document has pages."""
        return self.page_from

    @property
    def further_headings(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the headings inside it that `heading_path` does not name, each once."""
        return further_headings(self.heading_path, (heading.path for heading in self.headings))


def further_headings(above: Sequence[str], paths: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Those of the paths that are not at the start of the path above, each once."""
    each = dict.fromkeys(tuple(path) for path in paths)
    return tuple(path for path in each if path != tuple(above[: len(path)]))


def score_parts(hit: SearchHit) -> ScoreParts:
    """What a hit's score is made of."""
    return ScoreParts(
        text=_part(hit.text_rank, hit.text_score),
        vector=_part(hit.vector_rank, hit.vector_score),
        fused=hit.score,
        reranked=hit.rerank_score,
    )


def _part(rank: int | None, score: float | None) -> ScorePart | None:
    return None if rank is None or score is None else ScorePart(rank=rank, score=score)


class UnavailableEmbedder(BaseModel):
    """A model that was unavailable for a search, and the projects that use it."""

    model_config = ConfigDict(frozen=True)

    embedder: str
    reason: str
    projects: tuple[str, ...]


class SearchSteps(BaseModel):
    """Milliseconds of each step: embedding the query, asking the index, fusing and reading the hits, and
    waiting for the reranker."""

    model_config = ConfigDict(frozen=True)

    embed_ms: float
    index_ms: float
    fuse_ms: float
    rerank_ms: float = 0.0


class SearchAnswer(BaseModel):
    model_config = ConfigDict(frozen=True)

    hits: tuple[SearchHit, ...]
    took_ms: float
    steps: SearchSteps | None = None
    """How long each step took; only with `explain`."""
    models: tuple[str, ...]
    """The models the query was embedded with; empty for keyword search."""
    read_as: str | None = None
    """The query as local models read it, if a word of it that no document contains was taken for one that
    differs in one letter."""
    degraded: tuple[Literal["vector", "reranker"], ...] = ()
    """What was unavailable; `vector`: at least one model could not embed the query; `reranker`: the hits are
    in the order they had without it."""
    unavailable: tuple[UnavailableEmbedder, ...] = ()
    """Which models those were, and why."""
    no_good_match: bool = False
    """No hit reaches the relevance threshold; without `min_score` the nearest are still listed."""

    def __iter__(self) -> Iterator[SearchHit]:  # type: ignore[override]  # of its hits, not of its fields
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way
    @property
    def model(self) -> str | None:
        """The model, if there is exactly one."""
        return self.models[0] if len(self.models) == 1 else None
