"""Guesses the language of a text by its script and its function words; None if unsure."""

from __future__ import annotations

import re
from collections import Counter

from penstock.pipeline.text import Text

_SMALL_WORDS = {
    "da": "og i at det er en til af på den der ikke de med som et har fra blev også eller efter mere hvor",
    "de": "der die und das den von zu mit ist des im nicht ein eine auf für sich dem auch als wird es",
    "en": "the of and to in is that for it was with as on be by this are from at which have not or",
    "es": "el los las y del una en es que por con para se su al lo como más pero sus este son",
    "fi": "ja on ei että se oli joka mutta myös ovat kun niin tai sen kuin ole vain tämä ne mukaan jos sekä",
    "fr": "le la les et des du une dans est que pour qui pas sur au par plus avec sont ce cette aux",
    "hu": "a az és hogy nem is egy ez meg csak volt már de vagy mint ha el azt még ami után szerint lesz",
    "it": "il di che è e la per un una non con del della sono gli nel alla anche dei le più questo",
    "nl": "de het een en van in is dat op te zijn voor met niet aan er die ook door naar bij wordt",
    "no": "og i at det er en til av på den ikke de med som et har fra ble også eller etter mer hvor å",
    "pt": "o os as e do da em uma não que para com dos das ao pelo mais por são sua foi como",
    "ro": "și şi în cu pe nu din care este pentru sau mai prin ale după sunt dar fost lui unei între acest",
    "sv": "och i att det är en till av på den inte de med som ett har från var också eller efter om för",
    "tr": "ve bir bu için ile olarak çok daha olan gibi kadar sonra ancak veya değil her olduğu göre ise ki",
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_ARABIC = re.compile(r"[\u0620-\u064a\u066e-\u06d3]")
_NOT_ARABIC = re.compile(r"[پچژگکیےٹڈڑں]")
"""Letters of Persian and Urdu, which are written in the same script."""
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_RUSSIAN = re.compile(r"[ыэ]", re.I)
_NOT_RUSSIAN = re.compile(r"[іїєґўјљњћђџѓќѕ]", re.I)
_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
_SAMPLE = 20_000
_ENOUGH_HITS = 3
"""Distinct function words that must occur: a single `y` does not mean Spanish."""
_ENOUGH_LETTERS = 20
_ENOUGH_SHARE = 0.08
_CLEARLY = 1.3
"""How much better the best must be than the second, by the words that only one of them has."""
_RARELY = 0.004
"""The share of letters up to which another language's letter is a name or a slip."""


def sample(text: Text) -> str:
    """The part of the text to guess from: the beginning and the middle."""
    middle = max(0, len(text) // 2 - _SAMPLE // 2)
    return text.slice(0, _SAMPLE) + " " + text.slice(middle, middle + _SAMPLE)


def guess(sampled: str) -> str | None:
    """One of the languages that a text can be searched in (`ingest.text_config_of`), or None."""
    words = Counter(word.lower() for word in _WORD.findall(sampled))
    letters = sum(len(word) * count for word, count in words.items())
    for script, by_letters in ((_ARABIC, _arabic), (_CYRILLIC, _cyrillic), (_GREEK, _greek)):
        in_script = len(script.findall(sampled))
        if in_script >= _ENOUGH_LETTERS and 2 * in_script > letters:
            return by_letters(sampled, in_script)
    return _by_words(words)


def _by_words(words: Counter[str]) -> str | None:
    scores = sorted(
        ((sum(words[word] for word in small), language) for language, small in _WORDS_OF.items()),
        reverse=True,
    )
    (best, language), (_, second) = scores[:2]
    if len(_WORDS_OF[language] & words.keys()) < _ENOUGH_HITS:
        return None
    # Related languages share words: Danish and Norwegian differ in a few only.
    own = sum(words[word] for word in _WORDS_OF[language] - _WORDS_OF[second])
    other = sum(words[word] for word in _WORDS_OF[second] - _WORDS_OF[language])
    clear = best >= words.total() * _ENOUGH_SHARE and own > 0 and own >= other * _CLEARLY
    return language if clear else None


def _arabic(sampled: str, letters: int) -> str | None:
    return None if len(_NOT_ARABIC.findall(sampled)) > _RARELY * letters else "ar"


def _cyrillic(sampled: str, letters: int) -> str | None:
    """Russian by letters that Bulgarian and Ukrainian do not have, and without those of others."""
    if len(_NOT_RUSSIAN.findall(sampled)) > _RARELY * letters:
        return None
    return "ru" if len(_RUSSIAN.findall(sampled)) > _RARELY * letters else None


def _greek(_: str, __: int) -> str | None:
    return "el"
