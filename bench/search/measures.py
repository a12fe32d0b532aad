"""What is measured of a search: its time, how much of the exact answer it finds, and how well it ranks."""

from __future__ import annotations

import dataclasses
import math
import statistics
import string
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from bench.corpus import CHUNKS_A_DOCUMENT, Question
from bench.job import Figures
from bench.search.library import RARE, Library, identifier
from penstock.search import SearchAnswer, SearchHit, SearchQuery
from penstock.search.query import Mode

TOP = 10
AS_USERS: int = SearchQuery.model_fields["per_document"].default
"""Passages of a document while other documents match."""
FILTERS: Mapping[str, dict[str, Any]] = {
    "no filter": {},
    "1 % filter": {"metadata": {"team": 7}},
    "50 % filter": {"metadata": {"half": 1}},
}
WARM_UP = 20


def misspelt(library: Library, questions: Sequence[Question]) -> list[Question]:
    """With one letter changed in the longest word, so that no document contains it."""
    known = set(library.corpus.words.words)
    made = []
    for question in questions:
        longest = max(question.text.split()[:-1], key=len)  # the last one is a name
        place = len(longest) // 2
        changed = (longest[:place] + letter + longest[place + 1 :] for letter in string.ascii_lowercase)
        wrong = next(word for word in changed if word not in known)
        made.append(dataclasses.replace(question, text=question.text.replace(longest, wrong, 1)))
    return made


def with_identifiers(questions: Sequence[Question]) -> list[Question]:
    """For the first chunk of the document, by the identifier in it and two words of the question."""
    return [
        dataclasses.replace(
            question, text=f"{' '.join(question.text.split()[:2])} {identifier(question.document)}", chunk=0
        )
        for question in questions
    ]


async def timed(library: Library, questions: Sequence[Question], name: str) -> Figures:
    """Hybrid searches one after another, as a caller sees them, embedding the query included."""
    narrowed = FILTERS[name]
    for question in questions[:WARM_UP]:
        await ask(library, question, "hybrid", narrowed, per_document=AS_USERS)
    took: list[float] = []
    shown: list[tuple[SearchHit, ...]] = []
    for question in questions:
        started = time.perf_counter()
        hits = await ask(library, question, "hybrid", narrowed, per_document=AS_USERS)
        took.append((time.perf_counter() - started) * 1_000)
        shown.append(hits)
    found = []
    for question in questions:
        seen = await answer(library, question, "vector", narrowed, TOP)
        read = dataclasses.replace(question, text=seen.read_as or question.text)
        found.append(recall(library, read, seen.hits, name))
    cuts = statistics.quantiles(took, n=100)
    return {
        "p50": cuts[49],
        "p95": cuts[94],
        "recall": statistics.fmean(found),
        "rows": statistics.fmean(map(len, shown)),
        "documents": statistics.fmean(len({hit.document_id for hit in hits}) for hits in shown),
    }


async def ranked(library: Library, questions: Sequence[Question], mode: Mode) -> Figures:
    """nDCG of the first ten. A document shows one passage: 3 for the chunk that answers, 1 for another."""
    gains = []
    for question in questions:
        hits = await ask(library, question, mode, {}, per_document=AS_USERS)
        grades = (grade(library, question, hit) / math.log2(place + 2) for place, hit in enumerate(hits))
        gains.append(next((each for each in grades if each), 0.0) / 3)
    return {"ndcg": statistics.fmean(gains)}


async def ask(
    library: Library,
    question: Question,
    mode: Mode,
    narrowed: dict[str, Any],
    *,
    per_document: int = TOP,
) -> tuple[SearchHit, ...]:
    """Recall needs every passage of a document; a user gets one while other documents match (AS_USERS)."""
    return (await answer(library, question, mode, narrowed, per_document)).hits


async def answer(
    library: Library, question: Question, mode: Mode, narrowed: dict[str, Any], per_document: int
) -> SearchAnswer:
    query = SearchQuery(query=question.text, mode=mode, limit=TOP, per_document=per_document, **narrowed)
    return await library.search.search(library.tenant_id, query)


def grade(library: Library, question: Question, hit: SearchHit) -> int:
    if hit.document_id != library.documents[question.document]:
        return 0
    return 3 if hit.ordinal == question.chunk else 1


def recall(library: Library, question: Question, hits: Sequence[SearchHit], name: str) -> float:
    """How many of the ten nearest, by a comparison with every chunk, were found; equals count alike."""
    query = library.corpus.embed([question.text])[0].astype(np.float32)
    scores: npt.NDArray[np.float32] = library.vectors @ query
    document = np.arange(len(scores)) // CHUNKS_A_DOCUMENT
    match name:
        case "1 % filter":
            scores[document % RARE != FILTERS[name]["metadata"]["team"]] = -2
        case "50 % filter":
            scores[document % 2 != FILTERS[name]["metadata"]["half"]] = -2
    least = np.sort(scores)[-TOP]
    places: dict[UUID, int] = {document_id: place for place, document_id in enumerate(library.documents)}
    near = [
        scores[places[hit.document_id] * CHUNKS_A_DOCUMENT + hit.ordinal]
        for hit in hits
        if hit.document_id is not None and hit.ordinal is not None
    ]
    return sum(bool(score >= least - 1e-4) for score in near) / TOP
