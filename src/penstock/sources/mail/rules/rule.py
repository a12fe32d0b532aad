"""What a rule is: a name, how much it counts, and a function that gives a reason if it applies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.sources.mail.rules.candidate import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Without a `weight` it drops the item by itself; a negative weight speaks against the item.

    `applies` returns the reason, for people, or None. `about` says in one sentence what the rule does.
    """

    name: str
    about: str
    applies: Callable[[Candidate], str | None]
    weight: float | None = None
    skip_reason: str | None = None
