"""Generated text that behaves like text: Zipf's law, topics, names, and questions in other words."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import wordllama  # type: ignore[import-untyped]  # it has no types

TOPICS = 400
TOPIC_WORDS = 60
CHUNK_WORDS = 120
CHUNKS_A_DOCUMENT = 10
SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "ren",
    "tov",
    "ash",
    "bel",
    "dor",
    "fin",
    "gra",
    "hul",
    "jen",
    "pra",
    "sil",
    "vex",
    "zu",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks, the document that answers it and the chunk in it that answers best."""

    text: str
    document: int
    chunk: int


class Words:
    """The whole words of the embedder's own vocabulary, and which of them mean nearly the same to it."""

    def __init__(self) -> None:
        folder = Path(wordllama.__file__).parent
        self.model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        pieces = self.model.tokenizer.get_vocab()
        whole = (
            piece[1:]
            for piece in sorted(pieces, key=pieces.__getitem__)
            if piece[0] in "▁Ġ" and len(piece) > 3
        )
        self.words = [word for word in whole if word.isascii() and word.isalpha() and word.islower()]

    @cached_property
    def vectors(self) -> npt.NDArray[np.float32]:
        vectors: npt.NDArray[np.float32] = self.model.embed(self.words, norm=True).astype(np.float32)
        return vectors

    def near(self, word: int) -> list[int]:
        """The five nearest other words that do not begin like it."""
        order = np.argsort(-(self.vectors @ self.vectors[word]))[1:60]
        start = self.words[word][:4]
        kept = [int(other) for other in order if self.words[other][:4] != start][:5]
        return kept + [word] * (5 - len(kept))


class Corpus:
    """Documents of ten chunks, about a topic and a second one; each names two of the names others share."""

    def __init__(self, documents: int, seed: int = 7, chunk_words: int = CHUNK_WORDS) -> None:
        """A chunk has at least the 50 words of its topics."""
        self.documents = documents
        self.chunk_words = chunk_words
        self.words = Words()
        self._random = np.random.default_rng(seed)
        count = len(self.words.words)
        self._common = np.cumsum(_zipf(count))
        # The most frequent words are nobody's topic.
        self._topics = np.array(
            [self._random.choice(np.arange(300, count), TOPIC_WORDS, replace=False) for _ in range(TOPICS)]
        )
        self._within = _zipf(TOPIC_WORDS)
        self._topic = self._random.integers(TOPICS, size=(documents, 2))
        names = ["".join(self._random.choice(SYLLABLES, 4)) for _ in range(max(2, documents // 10))]
        self._names = self._random.choice(names, size=(documents, 2))

    def chunks(self, document: int) -> list[str]:
        """The text of each chunk; asked twice, the same."""
        return [self._chunk(document, place)[0] for place in range(CHUNKS_A_DOCUMENT)]

    def questions(self, count: int) -> list[Question]:
        """Ten words a chunk is about, nine of them replaced by near ones, and the name it speaks of."""
        random = np.random.default_rng(13)
        made = []
        for _ in range(count):
            document, place = int(random.integers(self.documents)), int(random.integers(CHUNKS_A_DOCUMENT))
            about = random.permutation(self._chunk(document, place)[1])[:10]
            asked = [
                random.choice(self.words.near(word)) if turn < 9 else word for turn, word in enumerate(about)
            ]
            words = [self.words.words[word] for word in asked]
            made.append(Question(" ".join([*words, self._names[document][place % 2]]), document, place))
        return made

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float16]:
        vectors: npt.NDArray[np.float16] = self.words.model.embed(list(texts), norm=True).astype("<f2")
        return vectors

    def _chunk(self, document: int, place: int) -> tuple[str, npt.NDArray[np.int64]]:
        """Its text and the dozen words of the topic it is about."""
        random = np.random.default_rng((11, document, place))
        words = np.searchsorted(self._common, random.random(self.chunk_words))
        first, second = self._topic[document]
        about = self._topics[first][random.choice(TOPIC_WORDS, 12, replace=False, p=self._within)]
        words[:40] = random.choice(about, 40)
        words[40:50] = self._topics[second][random.choice(TOPIC_WORDS, 10, p=self._within)]
        text = [self.words.words[word] for word in random.permutation(words)]
        text[random.integers(self.chunk_words)] = self._names[document][place % 2]
        return " ".join(text), about


def _zipf(count: int) -> npt.NDArray[np.float64]:
    weights: npt.NDArray[np.float64] = 1 / np.arange(1, count + 1)
    shares: npt.NDArray[np.float64] = weights / weights.sum()
    return shares
