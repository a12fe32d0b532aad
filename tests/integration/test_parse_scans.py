"""Scans are read whichever way they lie, with their tables, and say how sure the reading is."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFilter

from bench.reading import penstock_reading
from bench.reading.made import scan_damage as damage
from bench.reading.made import scan_pages as pages
from bench.reading.truth import Reading, Truth, scores
from penstock.model import Parsed
from penstock.pipeline.parse import engine

DOTS = 110
"""Per inch; enough for the letters here, and cheap."""


def recall(page: pages.Page, parsed: Parsed) -> float:
    return scores(Truth(Path(), "scan", page.text), Reading(parsed.text)).words


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each picture that is given to OCR."""
    seen: list[int] = []
    real = engine.recognize

    def counted(picture: bytes, *, mime_type: str, language: str) -> str:
        seen.append(len(picture))
        return real(picture, mime_type=mime_type, language=language)

    monkeypatch.setattr(engine, "recognize", counted)
    return seen


def test_a_clean_page_is_recognized_once(tmp_path: Path, readings: list[int]) -> None:
    page = pages.few_words(1)
    path = tmp_path / "scan.png"
    pages.drawn(page, DOTS).save(path)
    parsed = penstock_reading.parse(path)
    assert recall(page, parsed) == 1.0
    assert int(parsed.metadata["ocr_confidence"].removeprefix("1: ")) > 85
    assert (len(readings), parsed.warnings) == (1, ())


def test_pages_of_a_tiff_are_turned_upright_and_levelled(tmp_path: Path, readings: list[int]) -> None:
    made = [pages.few_words(seed) for seed in (2, 3, 5)]
    first, second, third = (pages.drawn(page, DOTS) for page in made)
    images = [
        first.transpose(Image.Transpose.ROTATE_180),
        damage.tilted(damage.shaded(second), 6),
        damage.inverted(third).transpose(Image.Transpose.ROTATE_90),
    ]
    path = tmp_path / "fax.tiff"
    images[0].save(path, save_all=True, append_images=images[1:])
    parsed = penstock_reading.parse(path)
    for number, page in enumerate(made, start=1):
        blocks = [parsed.text[one.start : one.end] for one in parsed.blocks if one.page == number]
        found = scores(Truth(Path(), "scan", page.text), Reading("\n".join(blocks))).words
        assert found == 1.0, (number, blocks)
    assert (parsed.page_count, parsed.metadata["ocr_confidence"].count(":"), parsed.warnings) == (3, 3, ())
    assert len(readings) == 5  # the one upside down: as it is, a strip, turned


def test_a_table_in_a_scan_is_a_table(tmp_path: Path) -> None:
    page = pages.open_table(6)
    path = tmp_path / "list.png"
    damage.tilted(pages.drawn(page, DOTS), -2).save(path)
    parsed = penstock_reading.parse(path)
    (table,) = [parsed.text[one.start : one.end] for one in parsed.blocks if one.kind == "table"]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert [row for at, row in enumerate(rows) if at != 1] == [list(row) for row in page.tables[0]]


def test_a_page_that_is_hard_to_read_is_named_in_the_warnings(tmp_path: Path) -> None:
    image = pages.drawn(pages.prose(8), 72).filter(ImageFilter.GaussianBlur(2.2))
    path = tmp_path / "blurred.png"
    image.save(path)
    parsed = penstock_reading.parse(path)
    (said,) = parsed.warnings
    value = parsed.metadata["ocr_confidence"].removeprefix("1: ")
    assert said == f"page 1 was hard to read (confidence {value} of 100)"


def test_a_stamp_on_a_scan_does_not_hide_its_text(tmp_path: Path) -> None:
    page = pages.few_words(9)
    path = tmp_path / "stamped.pdf"
    path.write_bytes(pages.pdf_of([page], [pages.drawn(page, DOTS)], stamp="Received 17"))
    parsed = penstock_reading.parse(path)
    assert recall(page, parsed) == 1.0
    assert "Received 17" in parsed.text
    assert (parsed.parser, parsed.metadata["pdf_reading"]) == ("ocr", "ocr 1 (few words)")


def test_an_unreadable_text_layer_is_replaced(tmp_path: Path) -> None:
    page = pages.few_words(10)
    path = tmp_path / "layer.pdf"
    garbage = "".join(chr(33 + at * at % 14) for at in range(200))
    path.write_bytes(pages.pdf_of([page], [pages.drawn(page, DOTS)], hidden=garbage))
    parsed = penstock_reading.parse(path)
    assert recall(page, parsed) == 1.0
    assert garbage[:60] not in parsed.text
    assert parsed.warnings == ("the text layer of page 1 is unreadable; the page was read by OCR",)
    assert (parsed.parser, parsed.metadata["pdf_reading"]) == ("ocr", "ocr 1 (unreadable)")


def test_a_page_of_text_is_not_given_to_ocr(tmp_path: Path, readings: list[int]) -> None:
    text, scan = pages.few_words(11), pages.few_words(12)
    path = tmp_path / "mixed.pdf"
    path.write_bytes(pages.pdf_of([text, scan], [None, pages.drawn(scan, DOTS)]))
    parsed = penstock_reading.parse(path)
    assert (recall(text, parsed), recall(scan, parsed)) == (1.0, 1.0)
    assert parsed.metadata["ocr_confidence"].startswith("2: ")
    assert (parsed.parser, parsed.metadata["pdf_reading"]) == (
        "layout+ocr",
        "layout 1 (1 column); ocr 2 (no text)",
    )
    assert len(readings) == 1


def picture_page() -> Image.Image:
    """A drawing: much ink, and no word."""
    image = Image.new("L", (800, 1_100), 255)
    draw = ImageDraw.Draw(image)
    draw.ellipse((150, 200, 650, 700), outline=0, width=12)
    draw.line((100, 900, 700, 760), fill=0, width=10)
    return image


def specked_page() -> Image.Image:
    image = Image.new("L", (800, 1_100), 255)
    for at in range(6):
        image.putpixel((100 + 90 * at, 300 + 70 * at), 0)
    return image


def test_a_page_with_ink_but_no_words_is_named_and_a_blank_one_is_not(tmp_path: Path) -> None:
    page = pages.few_words(13)
    images = [pages.drawn(page, DOTS), picture_page(), Image.new("L", (800, 1_100), 255), specked_page()]
    said = ("page 2 is not blank, but no words were found on it",)
    tiff = tmp_path / "fax.tiff"
    images[0].save(tiff, save_all=True, append_images=images[1:])
    pdf = tmp_path / "scan.pdf"
    pdf.write_bytes(pages.pdf_of([page] * 4, images))
    for path in (tiff, pdf):
        parsed = penstock_reading.parse(path)
        assert parsed.warnings == said, path.name
        first, second = parsed.metadata["ocr_confidence"].split(", ")
        assert (first[:2], second) == ("1:", "2: 0"), path.name
    assert parsed.metadata["pdf_reading"] == "ocr 1 (no text); empty 2 (a picture without words); empty 3-4"
    assert parsed.parser == "ocr"
