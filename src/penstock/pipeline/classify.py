"""Decides whether a parsed document is worth keeping; until there are rules, every one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from penstock.model import Parsed
from penstock.pipeline.job import Job


@dataclass(frozen=True, slots=True)
class Skip:
    """The document is not kept; `reason` is shown wherever its ingestion is."""

    reason: str


class Classifier(Protocol):
    async def classify(self, job: Job, parsed: Parsed) -> Skip | None:
        """None keeps the document."""


class KeepAll:
    """The classifier of a tenant without rules."""

    async def classify(self, job: Job, parsed: Parsed) -> Skip | None:
        return None
