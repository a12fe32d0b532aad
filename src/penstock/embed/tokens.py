"""Counts tokens by tokeniser name, offline, caching the count of each word."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.embed.models_dir import default_minilm_folder, not_installed
from penstock.errors import InvalidArgument

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WORDS_KEPT = 200_000
LONGEST_KEPT = 4_096
CHARACTERS_KEPT = 8_000_000
LONGEST_WORD = 32_768
SLICE = 8_192

_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"0" * 9)
"""Replaces digits, so that dates and numbers of the same shape share a cache entry."""


class TokenCounter:
    """Counts a text's tokens by adding up those of its words.

    Neither tokeniser ever joins two words into one token, so the sum is the count, at ten times the speed.
    """

    def __init__(self, tokenizer: Tokenizer, words: re.Pattern[str], joined: re.Pattern[str] | None) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._words = words
        self._joined = joined
        self._known: dict[str, int] = {}
        self._characters = 0

    def count(self, text: str) -> int:
        """The tokens of a text on its own."""
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

    def count_both(self, whole: str, piece: str) -> tuple[int, int]:
        """The tokens of a piece on its own, and of the whole that ends with it when it follows another."""
        return self.count(piece), self.count_after(whole)

    def count_word(self, word: str) -> int:
        """The tokens of one word on its own, without white space."""
        cost = self._known.get(word)
        if cost is None:
            cost = self._known.get(" " + word)  # measured after a space, which is in its first token
        if cost is None or ("<" in word and self._joined is not None and self._joined.search(word)):
            return self.count(word)
        return cost

    def learn(self, text: str) -> None:
        """Measure every new word of a text at once, which is faster than sentence by sentence."""
        self._learn(self._words.findall(text))

    def _learn(self, words: Iterable[str]) -> dict[str, int]:
        unknown = [word for word in dict.fromkeys(words) if word not in self._known]
        costs = dict(zip(unknown, self._costs(unknown), strict=True))
        kept = {word: cost for word, cost in costs.items() if len(word) <= LONGEST_KEPT}
        self._characters += sum(map(len, kept))
        if len(self._known) + len(kept) > WORDS_KEPT or self._characters > CHARACTERS_KEPT:
            self._known = {}  # a new dict: a concurrent count may still use the old one
            self._characters = sum(map(len, kept))
        self._known.update(kept)
        return costs

    def _costs(self, words: Sequence[str]) -> list[int]:
        return self._encode(words)

    def _encode(self, texts: Sequence[str]) -> list[int]:
        """Token counts; a very long word is measured in slices, to limit memory."""
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
    """Llama's tokeniser encodes a space as the first character of a word and adds one before the text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        words = re.compile(r"\n[^ \n]*| +[^ \n]*|[^ \n]+")
        super().__init__(tokenizer, words, joined=re.compile(r"</?s>|<unk>"))
        self._digits_alike = _digits_stand_alone(tokenizer)

    def count(self, text: str) -> int:
        text = self._shape(text)
        if self._joined is not None and self._joined.search(text):
            return self._encode([text])[0]
        if text[:1] == "\n":
            return self.count_after(text) + 1  # the space put before the text
        if text[:1] == " " and (head := self._words.match(text)) is not None:
            return self._encode([head.group()])[0] + self.count_after(text[head.end() :])
        return self.count_after(text)

    def count_after(self, text: str) -> int:
        return super().count_after(self._shape(text))

    def count_both(self, whole: str, piece: str) -> tuple[int, int]:
        """At once after line ends, where they differ in the first word only: it is alone, or after one."""
        gap = len(whole) - len(piece)
        if 0 < gap <= 2 and whole[gap - 1] == "\n" and piece[:1] not in ("", " ", "\n") and "<" not in whole:
            words = self._words.findall(self._shape(whole))
            known = self._known
            try:
                first = known[words[gap - 1][1:]]
                costs = [known[word] for word in words]
            except KeyError:
                return self.count(piece), self.count_after(whole)
            after = sum(costs)
            return after - costs[gap - 1] - (costs[0] if gap == 2 else 0) + first, after
        return self.count(piece), self.count_after(whole)

    def count_word(self, word: str) -> int:
        cost = self._known.get(" " + word)  # unchanged: most words have no digits
        return super().count_word(self._shape(word)) if cost is None or "<" in word else cost

    def learn(self, text: str) -> None:
        words = dict.fromkeys(self._words.findall(self._shape(text)))
        self._learn([*words, *(word[1:] for word in words if word[0] == "\n" and len(word) > 1)])

    def _shape(self, text: str) -> str:
        if not self._digits_alike:
            return text
        return text.encode("utf-8", "surrogatepass").translate(_DIGITS_ALIKE).decode("utf-8", "surrogatepass")

    def _learn(self, words: Iterable[str]) -> dict[str, int]:
        """A word has the same count with or without a leading space, which is part of its first token."""
        known = self._known
        alone = [word for word in words if word not in known and word[0] not in " \n"]
        same = {word: known[" " + word] for word in alone if " " + word in known}
        known.update(same)
        return super()._learn(words) | same

    def _costs(self, words: Sequence[str]) -> list[int]:
        costs = self._encode([word[1:] if word[0] == " " else word for word in words])
        for at, word in enumerate(words):
            if word == " ":
                costs[at] = 1
            elif word[0] == "\n":
                costs[at] -= 1
        return costs


def _digits_stand_alone(tokenizer: Tokenizer) -> bool:
    """Whether no token mixes digits with other characters, so that the digits' values do not matter."""
    digit = re.compile(r"[0-9]")
    return not any(
        len(token) > 1 and digit.search(token) and not _BYTE.fullmatch(token)
        for token in tokenizer.get_vocab()
    )


def counter(name: str) -> TokenCounter:
    """`llama` comes with wordllama, `minilm` (or `minilm@folder`) with the installed model."""
    kind, _, folder = name.partition("@")
    if kind == "llama":
        return _llama()
    if kind == "minilm":
        return _minilm(Path(folder) if folder else default_minilm_folder())
    raise InvalidArgument(f"there is no tokeniser {name!r}", "tokenizer", "Use llama or minilm")


def count(name: str, texts: Sequence[str]) -> list[int]:
    """The tokens of each text, without the special tokens at both ends."""
    by_name = counter(name)
    return [by_name.count(text) for text in texts]


def wordllama_folder() -> Path:
    """Where wordllama's wheel keeps its files; found without importing it, which configures logging."""
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
