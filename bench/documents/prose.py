"""Text like that of a company's files: sentences, paragraphs and tables, the same for the same seed."""

from __future__ import annotations

import itertools
import random

_VOCABULARY = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had "
    "an they which one you were all her she there would their we him been has when who will no more if "
    "out so up said what its about than into them can only other time new some could these two may first "
    "then do any like my now over such our man me even most made after also did many off before must well "
    "back through years much where your way down should because long each just state those people too mr "
    "how little good world make very year still see own work men day get here old life both between being "
    "under three never know same last another while us might great go come since against right came take "
    "used himself few house use during without again place american around however home small found mrs "
    "thought went say part once general high upon school every left water mill gate river pipe valve "
    "wheel pressure contract invoice payment delivery customer supplier order account balance interest "
    "quarter budget forecast margin revenue expense audit report meeting minutes decision engineer "
    "drawing tender permit inspection safety maintenance repair schedule shift crane turbine generator "
    "grid voltage current concrete steel timber bridge tunnel road harbour vessel cargo insurance claim "
    "policy premium damage witness court appeal clause notice termination warranty liability licence "
    "software server database network backup release incident "
)
WORDS = _VOCABULARY.split()
WEIGHTS = list(itertools.accumulate(1 / (place + 3) for place in range(len(WORDS))))


class Prose:
    """A stream of words; two of the same seed say the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def words(self, count: int) -> str:
        return " ".join(self._random.choices(WORDS, cum_weights=WEIGHTS, k=count))

    def sentence(self) -> str:
        number = f" {self._random.randint(2, 9_999)}" if self._random.random() < 0.2 else ""
        return self.words(self._random.randint(7, 21)).capitalize() + number + "."

    def paragraph(self, words: int = 80) -> str:
        said, count = [], 0
        while count < words:
            said.append(self.sentence())
            count += said[-1].count(" ") + 1
        return " ".join(said)

    def heading(self) -> str:
        return self.words(self._random.randint(2, 5)).capitalize()

    def table(self, rows: int) -> list[list[str]]:
        """Four columns under a head: a name, two amounts, a word."""
        body = [
            [
                self.words(2).title(),
                f"{self._random.randint(10, 99_999):,}",
                f"{self._random.uniform(0, 100):.2f}",
                self.words(1),
            ]
            for _ in range(rows)
        ]
        return [["Name", "Amount", "Share", "State"], *body]
