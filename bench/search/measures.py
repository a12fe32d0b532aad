"""What is measured of a search: its time, how much of the exact answer it finds, and how well it ranks."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from bench.corpus import CHUNKS_A_DOCUMENT, Question
from bench.job import Figures
from bench.search.library import RARE, Library
from penstock.search import SearchHit, SearchQuery
from penstock.search.query import Mode

TOP = 10
FILTERS: Mapping[str, dict[str, Any]] = {
    "no filter": {},
    "1 % filter": {"metadata": {"team": 7}},
    "50 % filter": {"metadata": {"half": 1}},
}
WARM_UP = 20


async def timed(library: Library, questions: Sequence[Question], name: str) -> Figures:
    """Hybrid searches one after another, as a caller sees them, embedding the query included."""
    for question in questions[:WARM_UP]:
        await ask(library, question, "hybrid", FILTERS[name])
    took = []
    for question in questions:
        started = time.perf_counter()
        await ask(library, question, "hybrid", FILTERS[name])
        took.append((time.perf_counter() - started) * 1_000)
    found = [await ask(library, question, "vector", FILTERS[name]) for question in questions]
    cuts = statistics.quantiles(took, n=100)
    return {
        "p50": cuts[49],
        "p95": cuts[94],
        "recall": statistics.fmean(
            recall(library, question, hits, name) for question, hits in zip(questions, found, strict=True)
        ),
        "rows": statistics.fmean(len(hits) for hits in found),
    }


async def ranked(library: Library, questions: Sequence[Question], mode: Mode) -> Figures:
    """nDCG of the first ten: three for the chunk that answers, one for another chunk of its document."""
    ideal = discounted([3, *[1] * (CHUNKS_A_DOCUMENT - 1)])
    gains = []
    for question in questions:
        hits = await ask(library, question, mode, {})
        gains.append(discounted([grade(library, question, hit) for hit in hits]) / ideal)
    return {"ndcg": statistics.fmean(gains)}


async def ask(
    library: Library, question: Question, mode: Mode, narrowed: dict[str, Any]
) -> tuple[SearchHit, ...]:
    query = SearchQuery(query=question.text, mode=mode, limit=TOP, per_document=TOP, **narrowed)
    return (await library.search.search(library.tenant_id, query)).hits


def grade(library: Library, question: Question, hit: SearchHit) -> int:
    if hit.document_id != library.documents[question.document]:
        return 0
    return 3 if hit.ordinal == question.chunk else 1


def discounted(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:TOP]))


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
