"""Judges search by questions whose right documents are known: nDCG, recall, reciprocal rank, time."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from statistics import quantiles
from types import MappingProxyType
from typing import Any

from penstock.errors import InvalidArgument
from penstock.search.answer import SearchAnswer, SearchHit
from penstock.search.query import LONGEST_QUERY

DEPTH = 10
"""Only the first hits count, one for each document."""
MOST_QUESTIONS = 100_000
_LONGEST_LINE = 256 << 10

Ask = Callable[[str], Awaitable[SearchAnswer]]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    documents: tuple[str, ...]
    """Each by id, path, end of a path, or file name."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How one question was answered."""

    question: Question
    ndcg: float
    recall: float
    reciprocal_rank: float
    took_ms: float
    found: tuple[str, ...]
    """The documents in the order they were found, by path or name."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a set of questions was answered with one setting."""

    setting: str
    judged: tuple[Judged, ...]

    @property
    def ndcg(self) -> float:
        return _mean([each.ndcg for each in self.judged])

    @property
    def recall(self) -> float:
        return _mean([each.recall for each in self.judged])

    @property
    def mrr(self) -> float:
        return _mean([each.reciprocal_rank for each in self.judged])

    @property
    def p50_ms(self) -> float:
        return _quantile([each.took_ms for each in self.judged], 50)

    @property
    def p95_ms(self) -> float:
        return _quantile([each.took_ms for each in self.judged], 95)


def question_lines(text: str) -> list[str]:
    """The lines of a file of questions; a question may contain U+2028 and other line ends of Unicode."""
    return text.removeprefix("\ufeff").replace("\r", "\n").split("\n")


def read_questions(lines: Iterable[str]) -> list[Question]:
    """One JSON object a line: `question` and `documents`. InvalidArgument names the line and the field."""
    questions: list[Question] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(line) > _LONGEST_LINE:
            raise InvalidArgument(
                f"line {number} is longer than {_LONGEST_LINE >> 10} KiB", "questions", _FORM
            )
        if len(questions) == MOST_QUESTIONS:
            raise InvalidArgument(f"more than {MOST_QUESTIONS:,} questions", "questions", "Split the file")
        questions.append(_question(number, line))
    if not questions:
        raise InvalidArgument("there are no questions", "questions", _FORM)
    return questions


_FORM = 'Write one line for each: {"question": "who repaired the gate?", "documents": ["reports/gate.pdf"]}'


def _question(number: int, line: str) -> Question:
    try:
        given: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"line {number} is not JSON: {error}", "questions", _FORM) from None
    if not isinstance(given, dict):
        raise InvalidArgument(f"line {number} is not an object", "questions", _FORM)
    text, documents = given.get("question"), given.get("documents")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_QUERY:
        raise InvalidArgument(
            f"line {number}: question must be a text of 1 to {LONGEST_QUERY:,} characters", "question", _FORM
        )
    named = [documents] if isinstance(documents, str) else documents
    if not isinstance(named, list) or not named or not all(isinstance(each, str) and each for each in named):
        raise InvalidArgument(
            f"line {number}: documents must be a list of ids, paths or names", "documents", _FORM
        )
    return Question(text.strip(), tuple(dict.fromkeys(named)))


async def judge(ask: Ask, question: Question, same: Mapping[str, object] = MappingProxyType({})) -> Judged:
    """Ask one question; hits of clients do not count. Names that `same` gives one value are one document."""
    answer = await ask(question.text)
    found: dict[object, SearchHit] = {}
    for hit in answer.hits:
        if hit.document_id is not None:
            found.setdefault(hit.document_id, hit)
    hits = list(found.values())[:DEPTH]
    documents: dict[object, list[str]] = {}
    for name in question.documents:
        documents.setdefault(same.get(name, name), []).append(name)
    places, total = _right(hits, list(documents.values()))
    return Judged(
        question,
        ndcg=sum(map(_gain, places)) / sum(map(_gain, range(min(DEPTH, total)))),
        recall=len(places) / total,
        reciprocal_rank=1 / (places[0] + 1) if places else 0.0,
        took_ms=answer.took_ms,
        found=tuple(hit.path or hit.filename or str(hit.document_id) for hit in hits),
    )


async def judge_sides(
    asks: Sequence[Ask],
    questions: Sequence[Question],
    same: Mapping[str, object] = MappingProxyType({}),
    done: Callable[[int], None] = lambda _: None,
) -> list[tuple[Judged, ...]]:
    """Ask each question of every side before the next, which side first in turns, so that caches favour none.

    The first question is asked once more before, which is not measured: the first search loads the model and
    opens the connections.
    """
    for ask in asks:
        await ask(questions[0].text)
    judged: list[list[Judged]] = [[] for _ in asks]
    for number, question in enumerate(questions):
        for turn in range(len(asks)):
            side = (number + turn) % len(asks)
            judged[side].append(await judge(asks[side], question, same))
            done(number * len(asks) + turn + 1)
    return [tuple(each) for each in judged]


def compared(first: Evaluation, second: Evaluation) -> list[tuple[Judged, Judged]]:
    """The questions the two settings answer differently, those that got worse most first."""
    pairs = zip(first.judged, second.judged, strict=True)
    changed = [(one, other) for one, other in pairs if one.ndcg != other.ndcg]
    return sorted(changed, key=lambda pair: (pair[1].ndcg - pair[0].ndcg, pair[0].question.text))


class _Fit(IntEnum):
    """How closely a name says which document it means."""

    FILENAME = 1
    END_OF_PATH = 2
    PATH = 3
    ID = 4


def _fit(hit: SearchHit, name: str) -> _Fit | None:
    path = hit.path or ""
    if name == str(hit.document_id):
        return _Fit.ID
    if name == path:
        return _Fit.PATH
    if path.endswith(f"/{name}"):
        return _Fit.END_OF_PATH
    return _Fit.FILENAME if name == hit.filename else None


def _right(hits: Sequence[SearchHit], documents: Sequence[Sequence[str]]) -> tuple[list[int], int]:
    """The places of the hits that are right, from 0, and how many documents the names mean.

    The closest name takes a hit first: "gate.pdf" must not use up reports/gate.pdf if that is named as well.
    """
    fits = {
        (place, number): max((fit, len(name)) for name in names if (fit := _fit(hit, name)) is not None)
        for place, hit in enumerate(hits)
        for number, names in enumerate(documents)
        if any(_fit(hit, name) is not None for name in names)
    }
    taken: dict[int, int] = {}
    for place, number in sorted(fits, key=lambda pair: (*(-each for each in fits[pair]), pair[0])):
        if place not in taken and number not in taken.values():
            taken[place] = number
    again = {
        number
        for place, number in fits
        if number not in taken.values()
        # A second name of a taken document: it is its id or whole path, or the first name was its id.
        and (fits[place, number][0] >= _Fit.PATH or fits[place, taken[place]][0] == _Fit.ID)
    }
    return sorted(taken), len(documents) - len(again)


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)


def _quantile(values: Sequence[float], percent: int) -> float:
    """Inclusive: of a few questions, no figure is beyond the slowest."""
    if len(values) == 1:
        return round(values[0], 1)
    return round(quantiles(values, n=100, method="inclusive")[percent - 1], 1)
