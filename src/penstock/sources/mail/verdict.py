"""What the rules say about one attachment or mail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Decision: TypeAlias = Literal["keep", "drop", "ask"]
"""`ask` keeps the document and lets the classifier of the pipeline decide."""


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that applied; `reason` is for people."""

    rule: str
    weight: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`skip_reason` is given for `drop`, such as signature_image; `fired` are the rules behind it."""

    decision: Decision
    score: float
    skip_reason: str | None
    fired: tuple[Fired, ...]
    rules_version: int
