"""Guesses the language of a text by its function words; None if unsure."""

from __future__ import annotations

import re
from collections import Counter

from penstock.pipeline.text import Text

_SMALL_WORDS = {
    "en": "the of and to in is that for it was with as on be by this are from at which have not or",
    "de": "der die und das den von zu mit ist des im nicht ein eine auf für sich dem auch als wird es",
    "fr": "le la les et des du une dans est que pour qui pas sur au par plus avec sont ce cette aux",
    "es": "el los las y del una en es que por con para se su al lo como más pero sus este son",
    "it": "il di che è e la per un una non con del della sono gli nel alla anche dei le più questo",
    "pt": "o os as e do da em uma não que para com dos das ao pelo mais por são sua foi como",
    "nl": "de het een en van in is dat op te zijn voor met niet aan er die ook door naar bij wordt",
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
_ENOUGH_HITS = 3
"""Distinct function words that must occur: a single `y` does not mean Spanish."""
_ENOUGH_SHARE = 0.08
_CLEARLY = 1.3
"""How much better the best must be than the second: related languages share words."""


def sample(text: Text) -> str:
    """The part of the text to guess from: the beginning and the middle."""
    middle = max(0, len(text) // 2 - _SAMPLE // 2)
    return text.slice(0, _SAMPLE) + " " + text.slice(middle, middle + _SAMPLE)


def guess(sampled: str) -> str | None:
    """One of en, de, fr, es, it, pt, nl, or None."""
    words = Counter(word.lower() for word in _WORD.findall(sampled))
    total = sum(words.values())
    scores = sorted(
        ((sum(words[word] for word in small), language) for language, small in _WORDS_OF.items()),
        reverse=True,
    )
    (best, language), (second, _) = scores[:2]
    if len(_WORDS_OF[language] & words.keys()) < _ENOUGH_HITS:
        return None
    return language if best >= total * _ENOUGH_SHARE and best >= second * _CLEARLY else None
