"""Words, lines and counts that are read a page at a time are those that pdfium gives one by one."""

from __future__ import annotations

import contextlib
import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
import pytest

from bench.reading.made.pdf import make
from penstock.pipeline.parse.pdf import reading
from penstock.pipeline.parse.pdf.characters import character_counts
from penstock.pipeline.parse.pdf.layout import Flow, Grid, read_in_order
from penstock.pipeline.parse.pdf.lines import Piece, pieces
from penstock.pipeline.parse.pdf.reading import PlacedPage, read_layout
from penstock.pipeline.parse.pdf.rules import drawn_objects
from penstock.pipeline.parse.pdf.words import Word, placed_words
from tests.unit import odd_files

TOKEN = re.compile(r"[^\s\x00\x02\ufffe\uffff]+[\x02\ufffe]?")
BOLD = re.compile(rb"bold|black|heavy|semib|demi", re.I)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("made")
    odd = folder / "scattered.pdf"
    odd.write_bytes(odd_files.scattered_words(60_000))  # more boxes on a page than are read at once
    return [*(truth.path for truth in make(folder)), odd]


def pages_of(path: Path) -> Iterator[tuple[pypdfium2.PdfPage, pypdfium2.PdfTextPage]]:
    with contextlib.closing(pypdfium2.PdfDocument(path)) as document:
        for page in document:
            with contextlib.closing(page), contextlib.closing(page.get_textpage()) as text:
                yield page, text


def one_by_one(page: pypdfium2.PdfTextPage) -> Iterator[tuple[int, Word]]:
    """Direction and word, by a call for each of its properties."""
    text = page.get_text_range()
    if len(text) != page.count_chars():
        codes = [pdfium.FPDFText_GetUnicode(page.raw, at) for at in range(page.count_chars())]
        text = "".join(
            chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\0" for code in codes
        )
    for place, token in enumerate(TOKEN.finditer(text)):
        broken = token[0][-1] in "\x02\ufffe"
        first = token.start()
        last = max(first, token.end() - 1 - broken)
        size, bold, turn = style(page, first)
        left, bottom, right, top = turned(turn, *around(box_of(page, first), box_of(page, last)))
        said = token[0][:-1] + "-" if broken else token[0]
        yield turn, Word(left, bottom, right, top, said, size, bold, place, broken)


def box_of(page: pypdfium2.PdfTextPage, at: int) -> tuple[float, float, float, float]:
    box = pdfium.FS_RECTF()
    assert pdfium.FPDFText_GetLooseCharBox(page.raw, at, box)
    return box.left, box.bottom, box.right, box.top


def around(*boxes: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    across = [edge for box in boxes for edge in box[::2]]
    up = [edge for box in boxes for edge in box[1::2]]
    return min(across), min(up), max(across), max(up)


def turned(turn: int, left: float, bottom: float, right: float, top: float) -> tuple[float, ...]:
    for _ in range(max(0, turn)):
        left, bottom, right, top = bottom, -right, top, -left
    return left, bottom, right, top


def style(page: pypdfium2.PdfTextPage, at: int) -> tuple[float, bool, int]:
    matrix, name = pdfium.FS_MATRIX(), ctypes.create_string_buffer(256)
    assert pdfium.FPDFText_GetMatrix(page.raw, at, matrix)
    size = pdfium.FPDFText_GetFontSize(page.raw, at) * math.hypot(matrix.c, matrix.d)
    font = pdfium.FPDFTextObj_GetFont(pdfium.FPDFText_GetTextObject(page.raw, at))
    pdfium.FPDFFont_GetBaseFontName(font, name, 256)
    bold = bool(BOLD.search(name.value)) or pdfium.FPDFFont_GetWeight(font) >= 600
    quarters = math.atan2(matrix.b, matrix.a) / (math.pi / 2)
    turn = round(quarters) % 4 if abs(quarters - round(quarters)) < 0.06 else -1
    return round(abs(size), 1), bold, turn


def test_words_have_the_place_and_style_that_pdfium_gives_each_of_them(files: list[Path]) -> None:
    turns: set[int] = set()
    for path in files:
        for _, text in pages_of(path):
            wanted: dict[int, list[Word]] = {}
            for turn, word in one_by_one(text):
                wanted.setdefault(turn, []).append(word)
            assert placed_words(text, text.get_text_range()) == wanted, path.stem
            turns |= wanted.keys()
    assert turns >= {0, 1, 2}


def test_a_page_without_text_has_no_words(tmp_path: Path) -> None:
    path = tmp_path / "empty.pdf"
    path.write_bytes(odd_files.pdf([b""]))
    assert [placed_words(text, text.get_text_range()) for _, text in pages_of(path)] == [{}]


def test_drawn_objects_are_all_but_text(files: list[Path]) -> None:
    for path in files:
        for page, _ in pages_of(path):
            every = [one.type for one in page.get_objects(max_depth=1)]
            wanted = [kind for kind in every if kind != pdfium.FPDF_PAGEOBJ_TEXT]
            assert [kind for _, kind in drawn_objects(page)] == wanted, path.stem


def test_lines_between_a_header_and_a_footer_are_those_of_the_page_without_both(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = (path for path in files if path.stem == "running_lines")
    placed = [
        PlacedPage(number, placed_words(text, text.get_text_range()))
        for number, (_, text) in enumerate(pages_of(path), start=1)
    ]
    seen: list[list[Piece]] = []

    def order(found: list[Piece]) -> list[Flow | Grid]:
        seen.append(found)
        return read_in_order(found)

    monkeypatch.setattr(reading, "read_in_order", order)
    dropped = [page.dropped.split() for page in read_layout(placed, {}).pages.values()]
    assert sum(map(bool, dropped)) == len(placed) - 1
    for page, kept, away in zip(placed, seen, dropped, strict=True):
        places = {word.place for one in kept for word in one.words}
        assert len(places) == len(page.words[0]) - len(away)
        assert kept == pieces([word for word in page.words[0] if word.place in places])


@pytest.mark.parametrize("text", ["", "plain text\n", "café, naïve “quotes”", "漢字とかな", "a😀b\ud800"])
def test_characters_are_counted_in_all_scripts(text: str) -> None:
    assert character_counts(text) == Counter(text)
