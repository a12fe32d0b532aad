"""Reading many slides of a PPTX file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pptx import Presentation

from bench.reading.penstock_reading import parse
from penstock.pipeline.parse.office.package import Package

if TYPE_CHECKING:
    import pytest


def test_a_layout_is_read_once_for_all_its_slides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "many.pptx"
    deck = Presentation()
    for number in range(12):
        slide = deck.slides.add_slide(deck.slide_layouts[number % 2])
        slide.shapes.title.text = f"Slide {number}"
    deck.save(str(path))
    read: Counter[str] = Counter()
    data = Package.data

    def counted(package: Package, name: str) -> bytes | None:
        read[name] += 1
        return data(package, name)

    monkeypatch.setattr(Package, "data", counted)
    text = parse(path).text
    assert [line for line in text.splitlines() if line] == [f"## Slide {number}" for number in range(12)]
    layouts = {name: count for name, count in read.items() if "slideLayout" in name and "_rels" not in name}
    assert sorted(layouts.values()) == [1, 1]
