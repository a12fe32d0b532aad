"""Reads a PDF with pdfium: words per page, which pages are pictures, and their bitmaps."""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from penstock.errors import DocumentRejected
from penstock.pipeline.parse.columns import PlacedWords
from penstock.pipeline.reasons import Reason, rejected

DOTS_PER_INCH = 200
MOST_PIXELS = 25_000_000
_WORD = re.compile(r"\w+")
_END_MARK = b"%%EOF"
_PASSWORD = 4
"""pdfium's error code for a document that needs a password."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page: its plain text and whether something other than text is drawn on it."""

    number: int
    text: str
    has_pictures: bool
    segments: tuple[PlacedWords, ...] = ()
    """The words with their positions; words of a line are joined unless a gap separates them."""

    @property
    def words(self) -> int:
        return count_words(self.text)


@dataclass(frozen=True, slots=True)
class PdfFile:
    document: pypdfium2.PdfDocument
    said: Mapping[str, str]
    """The info dictionary: Title, Author, CreationDate, …"""

    def sheets(self) -> Iterator[Sheet]:
        """All pages in order; each is closed before the next is opened, to save memory."""
        for index in range(len(self.document)):
            try:
                page = self.document[index]
            except pypdfium2.PdfiumError:
                yield Sheet(index + 1, "", has_pictures=False)
                continue
            with contextlib.closing(page), contextlib.closing(page.get_textpage()) as words:
                text = words.get_text_range()
                drawn = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM, pdfium.FPDF_PAGEOBJ_PATH)
                has_pictures = any(True for _ in page.get_objects(filter=drawn, max_depth=2))
                yield Sheet(index + 1, text, has_pictures, tuple(_segments(words)))

    def bitmap(self, number: int) -> bytes:
        """A page as a grey BMP, small enough for any memory limit."""
        with contextlib.closing(self.document[number - 1]) as page:
            width, height = page.get_size()
            scale = min(DOTS_PER_INCH / 72, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
            with contextlib.closing(page.render(scale=scale, grayscale=True)) as drawn:
                return _bmp(drawn.width, drawn.height, drawn.stride, bytes(drawn.buffer))


@contextlib.contextmanager
def opened(path: Path) -> Iterator[PdfFile]:
    """The opened file; raises the reason if pdfium cannot open it: a password, a missing end, or damage."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise _refusal(path, error) from error
    try:
        yield PdfFile(document, document.get_metadata_dict(skip_empty=True))
    finally:
        document.close()


def _segments(words: pypdfium2.PdfTextPage) -> Iterator[PlacedWords]:
    for index in range(words.count_rects()):
        left, bottom, right, top = words.get_rect(index)
        yield PlacedWords(left, bottom, right, top, words.get_text_bounded(left, bottom, right, top))


def count_words(text: str) -> int:
    return len(_WORD.findall(text))


def _refusal(path: Path, error: pypdfium2.PdfiumError) -> DocumentRejected:
    if getattr(error, "err_code", None) == _PASSWORD:
        return rejected(Reason.ENCRYPTED, "the PDF is protected by a password")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4_096))
        if _END_MARK not in file.read():
            return rejected(Reason.TRUNCATED, "the PDF is truncated")
    return rejected(Reason.MALFORMED, "the PDF is damaged")


def _bmp(width: int, height: int, stride: int, rows: bytes) -> bytes:
    """An uncompressed grey bitmap. Rows are padded to four bytes; a negative height means top row first."""
    padded = -(-width // 4) * 4
    if stride != padded:
        rows = b"".join(
            rows[at : at + width].ljust(padded, b"\0") for at in range(0, stride * height, stride)
        )
    palette = b"".join(bytes((grey, grey, grey, 0)) for grey in range(256))
    start = 14 + 40 + len(palette)
    head = struct.pack("<2sIHHI", b"BM", start + len(rows), 0, 0, start)
    about = struct.pack("<IiiHHIIiiII", 40, width, -height, 1, 8, 0, len(rows), 7_874, 7_874, 256, 0)
    return head + about + palette + rows
