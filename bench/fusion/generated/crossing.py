"""Reports about every subject and every matter: each half of a question is in many of them, both in one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from bench.fusion.question_sets import QuestionSet


@dataclass(frozen=True, slots=True)
class Subject:
    """What reports are about, in the words of a report and in those of a question."""

    told: str
    asked: str


@dataclass(frozen=True, slots=True)
class Matter:
    """What a report says of its subject, what others say of it in passing, and what a question asks."""

    told: str
    mentioned: str
    asked: str


@dataclass(frozen=True, slots=True)
class Crossing:
    """A report is a frame with a place, what happened, and what is said about something else."""

    subjects: Sequence[Subject]
    matters: Sequence[Matter]
    places: Sequence[str]
    frames: Sequence[str]

    def question_set(self, name: str, language: str, *, questions: int, seed: int) -> QuestionSet:
        chosen = random.Random(seed)
        pairs = list(product(self.subjects, self.matters))
        chosen.shuffle(pairs)
        files = {pair: f"report-{number:03}.md" for number, pair in enumerate(pairs)}
        documents = {files[pair]: self._report(*pair, chosen) for pair in pairs}
        asked = [
            (_capital(matter.asked.format(subject.asked)), frozenset({files[subject, matter]}))
            for subject, matter in chosen.sample(pairs, questions)
        ]
        return QuestionSet(name, documents, asked, language)

    def _report(self, subject: Subject, matter: Matter, chosen: random.Random) -> str:
        others = [each for each in self.subjects if each is not subject]
        mentioned, again = chosen.sample([each for each in self.matters if each is not matter], 2)
        return chosen.choice(self.frames).format(
            number=chosen.randint(10, 99),
            place=chosen.choice(self.places),
            told=_capital(matter.told.format(subject.told)),
            other=chosen.choice(others).told,
            mentioned=mentioned.mentioned,
            again=again.mentioned,
        )


def _capital(sentence: str) -> str:
    """With its first letter as a capital; a question may begin with a sign."""
    for place, letter in enumerate(sentence):
        if letter.isalpha():
            return sentence[:place] + letter.upper() + sentence[place + 1 :]
    return sentence
