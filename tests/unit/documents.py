"""Makes parsed documents out of pieces, for tests of the chunker."""

from __future__ import annotations

import random
from collections.abc import Sequence

from penstock.model.document import Block, BlockKind, Parsed

Piece = tuple[BlockKind, str]


def parsed(pieces: Sequence[Piece], *, level: int = 2, a_page: int = 5, between: str = "\n\n") -> Parsed:
    """The pieces one after the other, `a_page` of them to a page."""
    text, blocks = "", []
    for at, (kind, piece) in enumerate(pieces):
        start = len(text)
        text += piece
        blocks.append(
            Block(kind, start, len(text), page=1 + at // a_page, level=level if kind == "heading" else 0)
        )
        text += between
    return Parsed(text, tuple(blocks), "test")


_CHANCE = random.Random(7)
WORDS = ["".join(_CHANCE.choices("etaoinshrdlu", k=_CHANCE.randint(2, 9))) for _ in range(2_000)]


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(4, 24))).capitalize() + "."


def prose(chance: random.Random, sentences: int) -> list[list[str]]:
    """Paragraphs of sentences, no two alike."""
    found: list[list[str]] = []
    while sentences > 0:
        found.append([sentence(chance) for _ in range(min(sentences, chance.randint(1, 7)))])
        sentences -= len(found[-1])
    return found


def paragraphs(parts: Sequence[Sequence[str]]) -> list[Piece]:
    return [("paragraph", " ".join(part)) for part in parts]


def under_headings(pieces: Sequence[Piece], each: int) -> list[Piece]:
    """A heading before every few pieces."""
    found: list[Piece] = []
    for at, piece in enumerate(pieces):
        if at % each == 0:
            found.append(("heading", f"## Section {at // each}"))
        found.append(piece)
    return found
