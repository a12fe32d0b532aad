"""Generated text that behaves like text: Zipf's law, topics, names, and questions that do not repeat the words."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import wordllama
from numpy.typing import NDArray

TOPICS = 400
TOPIC_WORDS = 60
CHUNK_WORDS = 120
CHUNKS_A_DOCUMENT = 10
SYLLABLES = ("ka", "lo", "mi", "ren", "tov", "ash", "bel", "dor", "fin", "gra", "hul", "jen", "pra", "sil", "vex", "zu")


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
        pieces = sorted(self.model.tokenizer.get_vocab().items(), key=lambda piece: piece[1])
        whole = [
            (piece[1:], number)
            for piece, number in pieces
            if piece[0] in "▁Ġ" and len(piece) > 3 and piece[1:].isascii() and piece[1:].isalpha() and piece[1:].islower()
        ]
        self.words = [word for word, _ in whole]
        self._numbers = np.array([number for _, number in whole])

    @cached_property
    def near(self) -> NDArray[np.int64]:
        """For each word the five nearest others that do not begin like it."""
        vectors = self.model.embed(self.words, norm=True).astype(np.float32)
        found = np.empty((len(self.words), 5), dtype=np.int64)
        for start in range(0, len(self.words), 512):
            order = np.argsort(-(vectors[start : start + 512] @ vectors.T), axis=1)[:, 1:60]
            for row, others in enumerate(order):
                word = self.words[start + row]
                kept = [other for other in others if self.words[other][:4] != word[:4]][:5]
                found[start + row] = kept + [start + row] * (5 - len(kept))
        return found


class Corpus:
    """Documents of ten chunks each; a document has a topic, a second one and two names of its own."""

    def __init__(self, documents: int, seed: int = 7) -> None:
        self.documents = documents
        self.words = Words()
        self._random = np.random.default_rng(seed)
        count = len(self.words.words)
        self._common = _zipf(count)
        # The most frequent words are nobody's topic.
        self._topics = np.array(
            [self._random.choice(np.arange(300, count), TOPIC_WORDS, replace=False) for _ in range(TOPICS)]
        )
        self._within = _zipf(TOPIC_WORDS)
        self.topic = self._random.integers(TOPICS, size=(documents, 2))
        self._names = [self._name() for _ in range(documents * 2)]
        self._spoken: dict[tuple[int, int], NDArray[np.int64]] = {}

    def chunks(self, document: int) -> list[str]:
        """The text of each chunk; asked twice, the same."""
        random = np.random.default_rng((11, document))
        return [self._chunk(random, document, place) for place in range(CHUNKS_A_DOCUMENT)]

    def questions(self, count: int) -> list[Question]:
        """Six words of a chunk, four of them replaced by near ones; every second question has a name in it."""
        random = np.random.default_rng(13)
        near = self.words.near
        made = []
        for number in range(count):
            document = int(random.integers(self.documents))
            place = int(random.integers(CHUNKS_A_DOCUMENT))
            self.chunks(document)
            said = random.permutation(np.unique(self._spoken[document, place]))[:6]
            asked = [int(random.choice(near[word])) if turn < 4 else int(word) for turn, word in enumerate(said)]
            text = [self.words.words[word] for word in asked]
            if number % 2:
                text.append(self._names[2 * document + place % 2])
            made.append(Question(" ".join(text), document, place))
        return made

    def embed(self, texts: Sequence[str]) -> NDArray[np.float16]:
        return self.words.model.embed(list(texts), norm=True).astype("<f2")

    def _chunk(self, random: np.random.Generator, document: int, place: int) -> str:
        words = random.choice(len(self.words.words), CHUNK_WORDS, p=self._common)
        first, second = self.topic[document]
        # A chunk is about its own dozen words of the topic.
        own = self._topics[first][random.choice(TOPIC_WORDS, 12, replace=False, p=self._within)]
        spoken = random.choice(own, 40)
        words[:40] = spoken
        words[40:50] = self._topics[second][random.choice(TOPIC_WORDS, 10, p=self._within)]
        self._spoken = {key: value for key, value in self._spoken.items() if key[0] == document}
        self._spoken[document, place] = spoken
        text = [self.words.words[word] for word in random.permutation(words)]
        text[random.integers(CHUNK_WORDS)] = self._names[2 * document + place % 2]
        return " ".join(text)

    def _name(self) -> str:
        return "".join(self._random.choice(SYLLABLES, 4))


def _zipf(count: int) -> NDArray[np.float64]:
    weights = 1 / np.arange(1, count + 1) ** 1.0
    return weights / weights.sum()
