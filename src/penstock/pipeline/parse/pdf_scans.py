"""Reads by OCR the pages of a PDF that are pictures, or whose text layer is not what a person reads."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from penstock.errors import DocumentRejected
from penstock.pipeline.parse.pdf.characters import character_counts
from penstock.pipeline.parse.pdfium import PdfFile, PlainPage, count_words
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.recognition import DOUBTFUL, recognized, warnings_of
from penstock.pipeline.parse.scan_pages import page_of_pdf
from penstock.pipeline.parse.scan_words import ScannedPage
from penstock.pipeline.reasons import Reason

_FEW_WORDS: Final = 15
"""A stamp, a page number, a line by the scanner's program; with more, the text layer is the page's text."""
_COVERED: Final = 0.6
"""The share of a page that one picture covers if the page is a scan."""
_JUDGED: Final = 60
"""Characters; fewer say too little about a text layer."""
_FEWEST_READABLE: Final = 0.5
_FEWEST_VOWELS: Final = 0.2
_VOWELS: Final = frozenset("aeiouyAEIOUY")


@dataclass(frozen=True, slots=True)
class ScansRead:
    """What OCR found in a PDF, by page."""

    texts: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    """Why OCR's text was taken."""
    confidence: dict[int, float] = field(default_factory=dict)
    unread: list[int] = field(default_factory=list)
    """Pages with ink on which no word was found."""
    skipped: list[int] = field(default_factory=list)
    """Pages that need OCR, of which there is none."""
    warnings: list[str] = field(default_factory=list)


def read_scans(
    source: ParserInput, file: PdfFile, pages: Sequence[PlainPage], texts: Mapping[int, str]
) -> ScansRead:
    """The text of the pages that need OCR. Without OCR, a scan is rejected; a text with a picture is not."""
    found = ScansRead()
    doubted = {page.number: why for page in pages if (why := _doubt(file, page, texts))}
    for number, why in doubted.items():
        try:
            scanned = recognized(page_of_pdf(file, number), language=source.ocr_language)
        except DocumentRejected as error:
            if error.code != Reason.OCR_UNAVAILABLE or not any(map(str.strip, texts.values())):
                raise
            one = len(doubted) == 1
            which = "1 page is a picture and was" if one else f"{len(doubted)} pages are pictures and were"
            found.warnings.append(f"{which} not read: {error.reason}")
            found.skipped.extend(one for one in doubted if one not in found.texts)
            return found
        _take(found, number, scanned, texts.get(number, "").strip(), why)
    found.warnings.extend(warnings_of(found.confidence, found.unread))
    return found


def _take(found: ScansRead, number: int, page: ScannedPage, layer: str, why: str) -> None:
    """Take what OCR read, if it is more than the text layer has."""
    if not page.words:
        if page.inked:
            found.confidence[number] = 0.0
            found.unread.append(number)
        return
    read = page.markdown()
    if why == "unreadable":
        # A list of codes looks unreadable too, but then to OCR as well.
        if page.confidence < DOUBTFUL or not is_readable(read):
            return
        found.warnings.append(f"the text layer of page {number} is unreadable; the page was read by OCR")
    elif layer:
        if count_words(read) <= count_words(layer):
            return
        if not set(layer.casefold().split()) <= set(read.casefold().split()):
            read = f"{read}\n\n{layer}"
    found.texts[number] = read
    found.reasons[number] = why
    found.confidence[number] = page.confidence


def _doubt(file: PdfFile, page: PlainPage, texts: Mapping[int, str]) -> str:
    """Why a page needs OCR: it has no text, only a stamp on a picture, or a text that is not readable."""
    if not texts.get(page.number, "").strip():
        return "no text" if page.has_pictures else ""
    if not is_readable(page.text):
        return "unreadable"
    few = page.has_pictures and page.words < _FEW_WORDS
    return "few words" if few and _is_covered(file, page.number) else ""


def is_readable(text: str) -> bool:
    """Whether a text layer can be a person's text: letters and digits, and vowels among Latin letters."""
    shown = {one: count for one, count in character_counts(text).items() if not one.isspace()}
    length = sum(shown.values())
    if length < _JUDGED:
        return True
    good = sum(count for one, count in shown.items() if one.isalnum() or unicodedata.category(one) == "Mn")
    if good < _FEWEST_READABLE * length:
        return False
    latin = sum(count for one, count in shown.items() if one.isascii() and one.isalpha())
    vowels = sum(count for one, count in shown.items() if one in _VOWELS)
    return latin < max(_JUDGED, good / 2) or vowels >= _FEWEST_VOWELS * latin


def _is_covered(file: PdfFile, number: int) -> bool:
    """Whether one picture covers most of the page."""
    try:
        page = file.document[number - 1]
    except pypdfium2.PdfiumError:
        return False
    with contextlib.closing(page):
        left, bottom, right, top = page.get_bbox()
        area = max(1.0, (right - left) * (top - bottom))
        for picture in page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE,), max_depth=2):
            one = picture.get_bounds()
            wide = min(one[2], right) - max(one[0], left)
            tall = min(one[3], top) - max(one[1], bottom)
            if wide > 0 and tall > 0 and wide * tall >= _COVERED * area:
                return True
    return False
