"""Counts tokens by tokeniser name, offline, remembering what each word costs."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import InvalidArgument
from penstock.pipeline.embed.models_dir import default_minilm_folder, not_installed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WORDS_KEPT = 200_000
LONGEST_KEPT = 48
LONGEST_WORD = 32_768
SLICE = 8_192


class TokenCounter:
    """Counts what a tokeniser would make of a text by adding up its words.

    Neither tokeniser ever joins two words into one token, so the sum is the count, at ten times the speed.
    """

    def __init__(self, tokenizer: Tokenizer, words: re.Pattern[str], joined: re.Pattern[str] | None) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._words = words
        self._joined = joined
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """The tokens of a text that stands alone."""
        return self.count_after(text)

    def count_after(self, text: str) -> int:
        """The tokens a text adds when it follows another, its leading white space included."""
        if self._joined is not None and self._joined.search(text):
            return self._encode([text])[0]
        words = self._words.findall(text)
        known = self._known
        try:
            return sum(map(known.__getitem__, words))
        except KeyError:
            fresh = self._learn(words)
            return sum(known[word] if word in known else fresh[word] for word in words)

    def count_word(self, word: str) -> int:
        """The tokens of one word, without white space, that stands alone."""
        cost = self._known.get(word)
        if cost is None:
            cost = self._known.get(" " + word)  # learned behind another; the space is part of its first token
        if cost is None or ("<" in word and self._joined is not None and self._joined.search(word)):
            return self.count(word)
        return cost

    def learn(self, text: str) -> None:
        """Measure every new word of a text in one go, which is faster than sentence by sentence."""
        self._learn(self._words.findall(text))

    def _learn(self, words: Iterable[str]) -> dict[str, int]:
        unknown = [word for word in dict.fromkeys(words) if word not in self._known]
        costs = dict(zip(unknown, self._costs(unknown), strict=True))
        if len(self._known) + len(costs) > WORDS_KEPT:
            self._known = {}  # a new one: who counts just now holds the old
        self._known.update((word, cost) for word, cost in costs.items() if len(word) <= LONGEST_KEPT)
        return costs

    def _costs(self, words: Sequence[str]) -> list[int]:
        return self._encode(words)

    def _encode(self, texts: Sequence[str]) -> list[int]:
        """Token counts; an endless word is measured in slices, for its encoding would fill memory."""
        short = [text if len(text) <= LONGEST_WORD else "" for text in texts]
        counts = [len(found) for found in self._tokenizer.encode_batch(short, add_special_tokens=False)]
        for at, text in enumerate(texts):
            if len(text) > LONGEST_WORD:
                slices = [text[start : start + SLICE] for start in range(0, len(text), SLICE)]
                counts[at] = sum(
                    len(found) for found in self._tokenizer.encode_batch(slices, add_special_tokens=False)
                )
        return counts


class LlamaCounter(TokenCounter):
    """Llama's tokeniser writes a space as the first letter of a word and puts one before the whole text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        words = re.compile(r"\n[^ \n]*| +[^ \n]*|[^ \n]+")
        super().__init__(tokenizer, words, joined=re.compile(r"</?s>|<unk>"))

    def count(self, text: str) -> int:
        if self._joined is not None and self._joined.search(text):
            return self._encode([text])[0]
        if text[:1] == "\n":
            return self.count_after(text) + 1  # the space put before the text
        if text[:1] == " " and (head := self._words.match(text)) is not None:
            return self._encode([head.group()])[0] + self.count_after(text[head.end() :])
        return self.count_after(text)

    def _costs(self, words: Sequence[str]) -> list[int]:
        costs = self._encode([word[1:] if word[0] == " " else word for word in words])
        for at, word in enumerate(words):
            if word == " ":
                costs[at] = 1
            elif word[0] == "\n":
                costs[at] -= 1
        return costs


def counter(name: str) -> TokenCounter:
    """`llama` comes with wordllama, `minilm` (or `minilm@folder`) with the installed model."""
    kind, _, folder = name.partition("@")
    if kind == "llama":
        return _llama()
    if kind == "minilm":
        return _minilm(Path(folder) if folder else default_minilm_folder())
    raise InvalidArgument(f"there is no tokeniser {name!r}", "tokenizer", "Use llama or minilm")


def count(name: str, texts: Sequence[str]) -> list[int]:
    """The tokens of each text, without the marks a model adds at both ends."""
    by_name = counter(name)
    return [by_name.count(text) for text in texts]


def wordllama_folder() -> Path:
    """Where wordllama's wheel keeps its files; found without importing it, for that sets up logging."""
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        raise InvalidArgument("wordllama is not installed", "embedder", "Run: pip install wordllama")
    return Path(found.origin).parent


@cache
def _llama() -> TokenCounter:
    from tokenizers import Tokenizer

    path = wordllama_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return LlamaCounter(Tokenizer.from_file(str(path)))


@cache
def _minilm(folder: Path) -> TokenCounter:
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise not_installed(folder)
    return TokenCounter(Tokenizer.from_file(str(path)), re.compile(r"[^ \n\t\r]+"), joined=None)
