"""The probability that a hit answers the query, by curves fitted to measured searches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, TypeAlias

from penstock.index.protocol import Hit
from penstock.search.answer import SearchHit

FLOOR: Final = 0.5
"""Hits below this are not a good match."""

LEAST_SAMPLE: Final = 20
"""A background of fewer chunks is meaningless; then only words count."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Weights of a logistic curve over a measure of similarity and the coverage of the query's words."""

    bias: float
    similarity: float
    coverage: float

    def at(self, similarity: float, coverage: float) -> float:
        return 1 / (1 + math.exp(-(self.bias + self.similarity * similarity + self.coverage * coverage)))


CURVES: Final[Mapping[str, Curve]] = {
    "wordllama-l2-supercat-256": Curve(-7.843, 15.754, 8.693),
    "minilm-l6-v2-int8": Curve(-8.461, 14.95, 7.596),
}
"""By model, over the similarity itself. Source: bench/results/relevance.json, made by bench.relevance."""

STANDING: Final = Curve(-5.958, 0.478, 9.653)
"""For an unmeasured model: over the similarity's distance from the tenant's own background, in standard
deviations. Fitted to the two local models together; the same source."""

WORDS: Final = Curve(-3.83, 0.0, 9.695)
"""For a hit found by keywords only; the same source."""


@dataclass(frozen=True, slots=True)
class Background:
    """How similar the query is to unrelated chunks."""

    mean: float
    deviation: float


Backgrounds: TypeAlias = Mapping[str, Background]


def relevance_of(hit: SearchHit, backgrounds: Backgrounds) -> float:
    """By the model's own curve, else by the distance from the background, else by keywords."""
    coverage = min(1.0, hit.coverage or 0.0)
    by_words = WORDS.at(0.0, coverage)
    if hit.vector_score is None or hit.model is None:
        return round(by_words, 4)
    if (curve := CURVES.get(hit.model)) is not None:
        return round(curve.at(hit.vector_score, coverage), 4)
    if (background := backgrounds.get(hit.model)) is not None:
        standing = (hit.vector_score - background.mean) / background.deviation
        return round(STANDING.at(standing, coverage), 4)
    return round(by_words, 4)


def background_of(near: Sequence[Hit], model: str) -> Background | None:
    """The background estimated from an external index: its hits beyond the first ten."""
    scores = sorted((hit.score for hit in near if hit.model == model), reverse=True)[10:]
    if len(scores) < LEAST_SAMPLE or not (deviation := stdev(scores)):
        return None
    return Background(fmean(scores), deviation)
