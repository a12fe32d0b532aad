"""Counts the tokens of the paths of headings."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.embed.tokens import TokenCounter

_DEEPEST = 6

Path = tuple[tuple[str, ...], int | None]
"""Headings from the outermost on, and their tokens, joined with ` > `; None if they were not counted."""
TOP: Path = (), 0


@dataclass(slots=True)
class Titles:
    """Counts each heading once, and not again in the paths of those below it.

    Tokens add up, except those of signs that have a meaning for the model, such as `</s>`.
    """

    counter: TokenCounter
    between: int = 0
    marks: list[int] = field(default_factory=list)
    """The tokens of the signs before a heading, by its level."""

    def __post_init__(self) -> None:
        self.between = self.counter.count_after(" >")
        self.marks = [self.counter.count("#" * level) for level in range(_DEEPEST + 1)]

    def tokens(self, above: int | None, title: str, said: str = "", alone: int = 0) -> int | None:
        """The tokens of a path with this title at its end; `above` are those of the path without it.

        `said` is the heading as it is written, and `alone` its tokens, if they are known.
        """
        if not title:
            return above
        if above is None or "<" in title:
            return None
        signs = len(said) - len(title) - 1
        if 0 < signs <= _DEEPEST and said == "######"[:signs] + " " + title:
            tokens = alone - self.marks[signs]
        else:
            tokens = self.counter.count(title)
        return above + self.between + tokens if above else tokens
