"""Generated documents of every office and web kind are read as promised, and never worse than by xberg."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.reading import penstock_reading
from bench.reading.made import office, open_formats, web
from bench.reading.truth import Reading, Scores, Truth, scores
from penstock.errors import DocumentRejected
from penstock.model import media
from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.result import parsed

KINDS = ("doc", "docx", "epub", "html", "md", "odp", "ods", "odt", "ppt", "pptx", "rtf", "xls", "xlsx")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Truth]]:
    folder: Path = tmp_path_factory.mktemp("made")
    truths: dict[str, list[Truth]] = {}
    for truth in (*office.make(folder), *open_formats.make(folder), *web.make(folder)):
        truths.setdefault(truth.kind, []).append(truth)
    return truths


def by_xberg(truth: Truth) -> Scores:
    kind = media.kind_of_name(truth.path.name)
    assert kind is not None
    try:
        text = engine.extract(truth.path, mime_type=kind, filename=truth.path.name).content
    except DocumentRejected:
        return scores(truth, Reading(""))
    found = {
        heading.path
        for piece in chunk(parsed([(None, text)], parser="xberg"), ChunkPlan())
        for heading in piece.headings
    }
    return scores(truth, Reading(text, tuple(found)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_with_its_words_cells_headings_and_order(
    made: dict[str, list[Truth]], kind: str
) -> None:
    assert len(made[kind]) >= 3
    for truth in made[kind]:
        found = scores(truth, penstock_reading.read(truth.path))
        assert found.words >= 0.98, truth.path.name
        assert found.cells in (None, 1.0), truth.path.name
        assert found.headings is not None
        assert found.headings >= 0.95, truth.path.name
        assert found.order is None or found.order >= 0.9, truth.path.name


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_is_read_worse_than_by_xberg_alone(made: dict[str, list[Truth]], kind: str) -> None:
    for truth in made[kind]:
        ours, theirs = scores(truth, penstock_reading.read(truth.path)), by_xberg(truth)
        assert ours.words >= theirs.words, truth.path.name
        assert (ours.cells or 0) >= (theirs.cells or 0), truth.path.name
        assert (ours.headings or 0) >= (theirs.headings or 0), truth.path.name
        assert (ours.order or 0) >= (theirs.order or 0), truth.path.name
