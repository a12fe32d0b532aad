"""The words that generated PDF files are made of: sentences that occur once, and tables."""

from __future__ import annotations

import random

_WHO = [
    "engineer",
    "miller",
    "pilot",
    "surveyor",
    "harbour-master",
    "clerk",
    "gardener",
    "botanist",
    "courier",
    "painter",
]
_WHAT = [
    "measured",
    "repaired",
    "described",
    "photographed",
    "ordered",
    "inspected",
    "counted",
    "sketched",
    "sold",
    "carried",
]
_WHICH = ["old", "narrow", "copper", "western", "hidden", "annual", "second", "quiet", "wooden", "northern"]
_THING = [
    "turbine",
    "sluice",
    "bridge",
    "ledger",
    "greenhouse",
    "beacon",
    "workshop",
    "canal",
    "archive",
    "orchard",
]
_WHERE = [
    "near the station",
    "before the winter",
    "on behalf of the council",
    "without any help",
    "for the third time",
]

FIGURES = (
    ("Quarter", "Revenue", "Cost", "Profit"),
    ("Q1 2025", "1,204,331", "803,112", "401,219"),
    ("Q2 2025", "1,310,000", "820,000", "490,000"),
    ("Q3 2025", "1,400,500", "900,100", "500,400"),
    ("Q4 2025", "1,512,750", "911,300", "601,450"),
)
PEOPLE = (
    ("Name", "City", "Trade"),
    ("Anna Ash", "Berlin", "Engineer"),
    ("Ben Birch", "Paris", "Lawyer"),
    ("Cy Cedar", "Rome", "Nurse"),
    ("Di Dogwood", "Oslo", "Pilot"),
    ("Ed Elder", "Lisbon", "Baker"),
)


class Sentences:
    """Different sentences, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._used: set[str] = set()
        self.number = 100 * seed

    def one(self) -> str:
        self.number += 1
        pick = self._chance.choice
        return (
            f"The {pick(_WHO)} {pick(_WHAT)} the {pick(_WHICH)} {pick(_THING)} number {self.number} "
            f"{pick(_WHERE)}."
        )

    def paragraph(self, count: int = 4) -> str:
        return " ".join(self.one() for _ in range(count))

    def paragraphs(self, count: int, sentences: int = 4) -> list[str]:
        return [self.paragraph(sentences) for _ in range(count)]


def marks(*paragraphs: str) -> tuple[str, ...]:
    """A phrase of each sentence that occurs once: the number it carries, with its neighbours."""
    found = []
    for paragraph in paragraphs:
        for sentence in paragraph.split(". "):
            words = sentence.split()
            if "number" in words:
                at = words.index("number")
                found.append(" ".join(words[at : at + 2]))
    return tuple(found)
