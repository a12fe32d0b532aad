"""How likely a hit is to answer the query, from 0 to 1, by curves that were fitted to measured searches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, TypeAlias

from penstock.index.protocol import Hit
from penstock.search.answer import SearchHit

FLOOR: Final = 0.5
"""Below this no hit is called a good match."""

LEAST_SAMPLE: Final = 20
"""A background of fewer chunks tells nothing; then the words decide."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Weights of a logistic curve over a measure of similarity and the coverage of the query's words."""

    bias: float
    similarity: float
    coverage: float

    def at(self, similarity: float, coverage: float) -> float:
        return 1 / (1 + math.exp(-(self.bias + self.similarity * similarity + self.coverage * coverage)))


CURVES: Final[Mapping[str, Curve]] = {
    "wordllama-l2-supercat-256": Curve(-7.717, 17.615, 10.289),
    "minilm-l6-v2-int8": Curve(-8.115, 18.924, 6.523),
}
"""By model, over the similarity itself. Source: bench/results/relevance.json, made by bench.relevance."""

STANDING: Final = Curve(-7.028, 0.851, 11.818)
"""For a model nobody measured: over how far the similarity stands out of the tenant's own background, in
standard deviations. Fitted to the two local models together; the same source."""

WORDS: Final = Curve(-3.743, 0.0, 11.374)
"""For a hit that was found by its words alone; the same source."""


@dataclass(frozen=True, slots=True)
class Background:
    """How similar the query is to chunks that have nothing to do with it."""

    mean: float
    deviation: float


Backgrounds: TypeAlias = Mapping[str, Background]


def relevance_of(hit: SearchHit, backgrounds: Backgrounds) -> float:
    """By the model's own curve, else by how far the hit stands out of the background, else by the words."""
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
    """The background as an index outside the database shows it: what it found beyond the first ten."""
    scores = sorted((hit.score for hit in near if hit.model == model), reverse=True)[10:]
    if len(scores) < LEAST_SAMPLE or not (deviation := stdev(scores)):
        return None
    return Background(fmean(scores), deviation)
