"""The second stage with the local classifier, as the pipeline uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from bench.mail.second_stage import Asked, SecondStage
from penstock.embed.batcher import Batcher
from penstock.embed.registry import make_embedder
from penstock.model import Vector
from penstock.model.document_class import CLASSES, UNSURE
from penstock.pipeline.classify.images import found_in_picture
from penstock.pipeline.classify.local import Calibration, LocalClassifier
from penstock.pipeline.classify.to_classify import ToClassify as Document
from penstock.settings import Settings

NO_TENANT: Final = ""


class LocalStage:
    """One local model; a picture without text is sorted by its name and size."""

    def __init__(self, classifier: LocalClassifier, model: str) -> None:
        self._classifier = classifier
        self.name = f"local, {model}"

    async def classify(self, asked: Asked) -> str:
        document = Document.of(
            filename=asked.filename or "",
            subject=asked.subject,
            sender=asked.sender,
            media_type=asked.media_type,
            size=asked.size or 0,
            text=asked.text,
            mail=asked.mail,
        )
        found = found_in_picture(document)
        if found is None and document.text:
            found = await self._classifier.found(NO_TENANT, document)
        return UNSURE if found is None else found.name

    def keeps(self, found: str) -> bool:
        return CLASSES[found] == "keep"


class _OneModel:
    """The embedders of an engine, without a database and with one model."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher

    async def embed(self, name: str, texts: Sequence[str]) -> tuple[tuple[Vector, ...], int]:
        embedded = await self._batcher.embed(texts)
        return tuple(embedded.vectors), embedded.tokens


@asynccontextmanager
async def local_stage(settings: Settings, calibration: Calibration) -> AsyncIterator[SecondStage]:
    batcher = Batcher(make_embedder(calibration.model, settings))
    try:
        classifier = LocalClassifier(_OneModel(batcher), settings, calibration)
        yield LocalStage(classifier, calibration.model)
    finally:
        await batcher.close()
