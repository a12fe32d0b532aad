"""What a classifier is: it reads the beginning of a document and says whether to keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.model import Parsed
from penstock.pipeline.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClass:
    """The class of a document. `score` is how sure that is; `version` is which classifier said it."""

    name: str
    score: float | None = None
    reasons: tuple[Mapping[str, Any], ...] = ()
    version: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Do not keep the document; `reason` is shown with its ingestion."""

    reason: str
    found: FoundClass | None = None


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the document, and note its class."""

    found: FoundClass


class Classifier(Protocol):
    def reads(self, job: Job) -> bool:
        """Whether it would look at this document: the text of others is not read for it."""

    async def classify(self, job: Job, parsed: Parsed) -> Skip | Keep | None:
        """None keeps the document. It is not asked about a document that a person restored."""


class KeepAll:
    """The classifier of an installation that has none."""

    def reads(self, job: Job) -> bool:
        return False

    async def classify(self, job: Job, parsed: Parsed) -> Skip | Keep | None:
        return None
