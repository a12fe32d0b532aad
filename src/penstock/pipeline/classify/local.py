"""Sorts documents with a local embedding model: which class has the examples that resemble it most."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from penstock.embed.models_dir import minilm_is_installed
from penstock.errors import PenstockError
from penstock.model.document_class import UNSURE
from penstock.model.document_signs import document_sign, has_amount
from penstock.observe import get_logger
from penstock.pipeline.classify.protocol import FoundClass
from penstock.pipeline.classify.prototypes import Prototype, prototypes
from penstock.pipeline.classify.to_classify import ToClassify

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.model import Vector
    from penstock.settings import Settings

log = get_logger(__name__)

VERSION: Final = 2
"""Raised whenever an example or a threshold changes what is decided."""
LONGEST: Final = 1_500
FEWEST_WORDS: Final = 12
"""Of a shorter text nobody can tell."""
PAUSE_SECONDS: Final = 60
"""A model that failed is not asked for this long: what arrives meanwhile is kept without a wait."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Calibration:
    """`nearest` examples are averaged; a class to skip must resemble by `margin` more than any to keep."""

    model: str
    nearest: int
    margin: float


MINILM: Final = Calibration("minilm", 2, 0.10)
WORDLLAMA: Final = Calibration("wordllama", 3, 0.10)
"""Calibrated on the tuned part of the labelled mails; docs/guides/mail-rules.md has the results."""
NEVER_SURE: Final = frozenset({"personal"})
"""Classes that a resemblance cannot tell: a client's order in a friendly tone reads like a private mail."""


class Embeds(Protocol):
    async def embed(self, name: str, texts: Sequence[str]) -> tuple[Sequence[Vector], int]: ...


class LocalClassifier:
    """Uses MiniLM where it is installed, and otherwise the model that is always there."""

    def __init__(self, embedders: Embeds, settings: Settings, calibration: Calibration | None = None) -> None:
        self._embedders = embedders
        self._chosen = calibration or (MINILM if minilm_is_installed(settings) else WORDLLAMA)
        self._examples: NDArray[np.float32] | None = None
        self._reading = asyncio.Lock()
        self._is_down = False
        self._left_alone_until = 0.0

    @property
    def version(self) -> str:
        return f"local-{self._chosen.model}-{VERSION}"

    async def found(self, tenant: str, asked: ToClassify) -> FoundClass | None:
        """None if the model does not answer: the document is kept, and others do not wait for it."""
        text = "\n".join(part for part in (asked.subject, asked.filename, asked.text[:LONGEST]) if part)
        if (reason := _unsure(asked)) is not None:
            return FoundClass(name=UNSURE, score=0.0, reasons=({"reason": reason},), version=self.version)
        clock = asyncio.get_running_loop().time
        if clock() < self._left_alone_until:
            return None
        try:
            examples = await self._vectors_of_examples()
            vector = await self._embed([text])
        except PenstockError as down:
            self._left_alone_until = clock() + PAUSE_SECONDS
            if not self._is_down:  # once, not for each document
                log.warning(
                    "classifier_unavailable", classifier="local", reason=down.message, seconds=PAUSE_SECONDS
                )
            self._is_down = True
            return None
        self._is_down = False
        return self._nearest(examples @ vector[0])

    def _nearest(self, alike: NDArray[np.float32]) -> FoundClass:
        known = prototypes()
        keep = self._group(alike, known, is_kept=True)
        skip = self._group(alike, known, is_kept=False)
        margin = round(float(skip.score - keep.score), 4)
        name = skip.name if margin > self._chosen.margin else keep.name
        reason = f"it resembles {skip.name} ({skip.score:.3f}) and {keep.name} ({keep.score:.3f})"
        if (name == keep.name and margin > 0) or name in NEVER_SURE:
            name = UNSURE
        return FoundClass(name=name, score=margin, reasons=({"reason": reason},), version=self.version)

    def _group(self, alike: NDArray[np.float32], known: Sequence[Prototype], *, is_kept: bool) -> _Best:
        """The mean of the nearest examples of classes to keep or to skip, and the class of the nearest."""
        of_group = [at for at, each in enumerate(known) if each.is_kept is is_kept]
        nearest = sorted(of_group, key=lambda at: -float(alike[at]))[: self._chosen.nearest]
        return _Best(known[nearest[0]].name, float(np.mean(alike[nearest])))

    async def _vectors_of_examples(self) -> NDArray[np.float32]:
        if self._examples is None:
            async with self._reading:
                if self._examples is None:
                    self._examples = await self._embed([each.text for each in prototypes()])
        return self._examples

    async def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors, _ = await self._embedders.embed(self._chosen.model, texts)
        return np.stack([_floats(each) for each in vectors])


@dataclass(frozen=True, slots=True)
class _Best:
    name: str
    score: float


def _unsure(asked: ToClassify) -> str | None:
    """Why the document is kept without asking the model.

    Resembling noise is one sign. A skip needs the others too: nothing in it looks like a document, and
    if it came by mail, that mail was sent to many people and reads like a campaign.
    """
    if asked.mail is not None and (reason := asked.mail.speak_for_it) is not None:
        return reason
    if has_amount(asked.subject):
        return "its subject names a sum of money"
    if (sign := document_sign(asked.text)) is not None:
        return f"it {sign}"
    words = len(_WORD.findall(asked.text[:LONGEST]))
    return f"it has fewer than {FEWEST_WORDS} words" if words < FEWEST_WORDS else None


def _floats(vector: Vector) -> NDArray[np.float32]:
    return np.frombuffer(vector, dtype="<f2").astype(np.float32)
