"""PDF keeps its pages and its tables, and where one reader loses words another is asked."""

from __future__ import annotations

import asyncio
import io
import os
import random
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from reportlab.lib import colors  # type: ignore[import-untyped]  # it ships no types
from reportlab.lib.styles import getSampleStyleSheet  # type: ignore[import-untyped]
from reportlab.platypus import (  # type: ignore[import-untyped]
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
)

from bench.reading import penstock_reading
from penstock.cli.demo import files as demo_files
from penstock.cli.demo.files.pdf_maker import assembled
from penstock.errors import DocumentRejected
from penstock.model import Parsed, media
from penstock.pipeline.parse import engine, pdf_scans
from penstock.pipeline.parse.pdf.choice import ranges
from penstock.pipeline.parse.readers import pdf as pdf_reader
from penstock.pipeline.parse.table import markdown_table
from penstock.pipeline.parser_pool import ParserPool
from penstock.pipeline.reasons import Reason, rejected
from penstock.settings import Settings
from tests.plugins.parsing import Parse
from tests.unit.test_parse_blocks import assert_covers

FIGURES = [
    ["Quarter", "Revenue", "Cost", "Profit"],
    ["Q1 2025", "1,204,331", "803,112", "401,219"],
    ["Q2 2025", "1,310,000", "820,000", "490,000"],
    ["Q3 2025", "1,400,500", "900,100", "500,400"],
]
PEOPLE = [
    ["Name", "City", "Trade"],
    ["Anna Ash", "Berlin", "Engineer"],
    ["Ben Birch", "Paris", "Lawyer"],
    ["Cy Cedar", "Rome", "Nurse"],
    ["Di Dogwood", "Oslo", "Pilot"],
]
PROSE = (
    "The company earned more money this year than in the year before, for reasons that are set out below. "
    * 4
)
WHEN = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)


def found_tables(parsed: Parsed) -> list[tuple[int | None, str]]:
    assert_covers(parsed.text, parsed.blocks)
    return [
        (block.page, parsed.text[block.start : block.end]) for block in parsed.blocks if block.kind == "table"
    ]


@pytest.mark.parametrize("ruled", [True, False], ids=["ruled", "borderless"])
@pytest.mark.parametrize("rows", [FIGURES, PEOPLE], ids=["figures", "people"])
def test_a_table_comes_out_as_a_table_on_its_page(parse: Parse, rows: list[list[str]], ruled: bool) -> None:
    pages: list[list[demo_files.Piece]] = [["# Report", PROSE]]
    pages.append(["## Table", PROSE, rows, "After the table come some words."])
    parsed = parse(demo_files.pdf("T", pages, ruled=ruled), "t.pdf")
    assert found_tables(parsed) == [(2, markdown_table(rows))]
    last = parsed.blocks[-1]
    assert (last.kind, parsed.text[last.start : last.end]) == (
        "paragraph",
        "After the table come some words.",
    )


@pytest.mark.parametrize(
    "style", [[("GRID", (0, 0), (-1, -1), 0.5, colors.black)], []], ids=["ruled", "borderless"]
)
def test_tables_as_a_report_generator_draws_them(parse: Parse, style: list[object]) -> None:
    sheet = getSampleStyleSheet()
    held = io.BytesIO()
    event_names = [Paragraph(PROSE, sheet["Normal"]), Spacer(1, 12), Table(FIGURES, style=style), PageBreak()]
    event_names += [Paragraph(PROSE, sheet["Normal"]), Spacer(1, 12), Table(PEOPLE, style=style)]
    SimpleDocTemplate(held, title="Drawn").build(event_names)
    parsed = parse(held.getvalue(), "drawn.pdf")
    assert found_tables(parsed) == [(1, markdown_table(FIGURES)), (2, markdown_table(PEOPLE))]


def test_pages_headings_and_metadata(parse: Parse) -> None:
    pages = [["# First chapter", PROSE], [PROSE, PROSE], ["# Third chapter", PROSE]]
    parsed = parse(demo_files.pdf("The Title", pages, author="An Author", created=WHEN), "a.pdf")
    headings = [
        (block.page, block.level, parsed.text[block.start : block.end])
        for block in parsed.blocks
        if block.kind == "heading"
    ]
    assert headings == [(1, 1, "# First chapter"), (3, 1, "# Third chapter")]
    assert sorted({block.page or 0 for block in parsed.blocks}) == [1, 2, 3]
    assert (parsed.title, parsed.author, parsed.page_count, parsed.language) == (
        "The Title",
        "An Author",
        3,
        "en",
    )
    assert (parsed.created_at, parsed.parser) == (WHEN, "layout")


def test_a_scanned_pdf_is_read_by_ocr_page_by_page(parse: Parse) -> None:
    parsed = parse(demo_files.scan_pdf([["# Delivery note", PROSE], ["Signed by the miller."]]), "scan.pdf")
    assert (parsed.parser, parsed.page_count) == ("ocr", 2)
    assert parsed.metadata["pdf_reading"] == "ocr 1-2 (no text)"
    on_page = {
        page: " ".join(parsed.text[b.start : b.end] for b in parsed.blocks if b.page == page)
        for page in (1, 2)
    }
    assert "Delivery note" in on_page[1]
    assert "Signed by the miller." in on_page[2]


def mixed(*scans: str) -> bytes:
    """A text of two pages, with pictures without words in their text layer between them."""
    import pypdfium2  # type: ignore[import-untyped]  # it ships no types

    text = pypdfium2.PdfDocument(demo_files.pdf("Mixed", [["# Cover", PROSE], ["# End", PROSE]]))
    scan = pypdfium2.PdfDocument(demo_files.scan_pdf([[words] for words in scans]))
    text.import_pages(scan, index=1)
    held = io.BytesIO()
    text.save(held)
    scan.close()
    text.close()
    return held.getvalue()


def test_one_picture_page_among_text_is_read_too(parse: Parse) -> None:
    parsed = parse(mixed("Signed by the miller of Winterbourne."), "mixed.pdf")
    assert parsed.parser == "layout+ocr"
    assert parsed.metadata["pdf_reading"] == "layout 1, 3 (1 column); ocr 2 (no text)"
    (signed,) = [
        block for block in parsed.blocks if "Signed by the miller" in parsed.text[block.start : block.end]
    ]
    assert (signed.page, parsed.page_count) == (2, 3)


@pytest.mark.parametrize(
    ("scans", "said"),
    [
        (["Signed."], "1 page is a picture and was not read: no OCR"),
        (["Signed.", "Sealed."], "2 pages are pictures and were not read: no OCR"),
    ],
)
def test_pictures_that_are_not_read_are_counted_in_the_warnings(
    scans: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object, **__: object) -> None:
        raise rejected(Reason.OCR_UNAVAILABLE, "no OCR")

    monkeypatch.setattr(pdf_scans, "recognized", unavailable)
    path = tmp_path / "mixed.pdf"
    path.write_bytes(mixed(*scans))
    parsed = penstock_reading.parse(path)
    assert "The company earned more" in parsed.text
    assert parsed.warnings == (said,)
    pictures, last = ranges(range(2, 2 + len(scans))), 2 + len(scans)
    assert parsed.metadata["pdf_reading"] == (
        f"layout 1, {last} (1 column); empty {pictures} (a picture that was not read)"
    )


def test_words_that_xberg_loses_are_read(parse: Parse) -> None:
    """Words beside the page's edge are such a case."""
    lines = b"".join(
        b"BT /F 9 Tf 700 %d Td (%d words beyond the edge) Tj ET\n" % (800 - 12 * number, number)
        for number in range(20)
    )
    fonts = b"/Resources << /Font << /F 5 0 R >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R %b >>" % fonts,
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(lines), lines),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    parsed = parse(assembled(objects, root=1), "edge.pdf")
    assert parsed.text.count("words beyond the edge") == 20
    assert (parsed.parser, {block.page for block in parsed.blocks}) == ("layout", {1})
    assert parsed.metadata["pdf_reading"] == "layout 1 (1 column)"


@pytest.mark.parametrize("reason", [Reason.ENCRYPTED, Reason.MALFORMED, Reason.BOMB])
def test_what_only_xberg_rejects_is_read_all_the_same(
    reason: Reason, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise rejected(reason, "xberg cannot read it")

    monkeypatch.setattr(engine, "extract", fails)
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(demo_files.scan_pdf([["Signed by the miller of Winterbourne."]]))
    assert "Signed by the miller" in penstock_reading.parse(scan).text
    text = tmp_path / "text.pdf"
    text.write_bytes(demo_files.pdf("T", [[PROSE]]))
    monkeypatch.setattr(pdf_reader, "needs_other", lambda _: True)
    assert "The company earned more" in penstock_reading.parse(text).text


def test_a_page_that_cannot_be_loaded_is_named_in_the_warnings(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pdf"
    path.write_bytes(pdf_of_objects(b"[3 0 R 6 0 R]", b"<< /Type /Nothing >>"))
    parsed = penstock_reading.parse(path)
    assert (parsed.text, parsed.page_count) == ("Words on the first page", 2)
    assert parsed.warnings == ("page 2: damaged, so nothing was read of it",)
    assert (parsed.parser, parsed.metadata["pdf_reading"]) == ("layout", "layout 1 (1 column); damaged 2")


def test_an_empty_page_is_not_said_to_be_read(tmp_path: Path) -> None:
    path = tmp_path / "empty.pdf"
    path.write_bytes(pdf_of_objects(b"[3 0 R 6 0 R]", b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"))
    parsed = penstock_reading.parse(path)
    assert (parsed.parser, parsed.metadata["pdf_reading"]) == ("layout", "layout 1 (1 column); empty 2")
    assert parsed.warnings == ()


def test_a_file_without_any_page_that_can_be_loaded_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pdf"
    path.write_bytes(pdf_of_objects(b"[6 0 R]", b"<< /Type /Nothing >>"))
    with pytest.raises(DocumentRejected) as caught:
        penstock_reading.parse(path)
    assert caught.value.code == Reason.MALFORMED


def pdf_of_objects(kids: bytes, other: bytes) -> bytes:
    """A file with one page of words (object 3) and another object (6)."""
    words = b"BT /F 12 Tf 72 700 Td (Words on the first page) Tj ET"
    fonts = b"/Resources << /Font << /F 5 0 R >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids %b /Count %d >>" % (kids, kids.count(b"R")),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R %b >>" % fonts,
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(words), words),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        other,
    ]
    return assembled(objects, root=1)


async def test_500_pages_are_parsed_while_the_parent_stays_small(tmp_path: Path) -> None:
    chance = random.Random(7)
    words = (PROSE + "turbine pump weir mill race sluice gate water wheel shaft bearing").split()
    pages = [
        [
            f"# Chapter {number}",
            " ".join(chance.choices(words, k=300)),
            *([FIGURES] if number % 10 == 0 else []),
        ]
        for number in range(1, 501)
    ]
    path = tmp_path / "long.pdf"
    path.write_bytes(demo_files.pdf("Long", pages))
    pages.clear()
    parsers = ParserPool(Settings(parse_processes=1))
    await parsers.start()
    try:
        us = psutil.Process(os.getpid())
        before = us.memory_info().rss
        gaps: list[float] = []
        beat = asyncio.create_task(_beat(gaps))
        parsed = await parsers.parse(path, mime_type=media.PDF, filename="long.pdf")
        beat.cancel()
        assert parsed.page_count == 500
        assert len(found_tables(parsed)) == 50
        assert {block.page for block in parsed.blocks} == set(range(1, 501))
        assert us.memory_info().rss - before < 60 << 20
        assert max(gaps) < 2.0, "the loop must stay free for heartbeats"
    finally:
        await parsers.close()


async def _beat(gaps: list[float]) -> None:
    loop = asyncio.get_running_loop()
    last = loop.time()
    while True:
        await asyncio.sleep(0.02)
        gaps.append(loop.time() - last)
        last = loop.time()
