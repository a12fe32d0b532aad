"""Opens a PDF with pdfium: the text of its pages, and what is drawn on them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]  # it ships no types

from penstock.errors import DocumentRejected
from penstock.pipeline.parse.pdf.forms import field_words
from penstock.pipeline.parse.pdf.reading import PlacedPage
from penstock.pipeline.parse.pdf.rules import drawn_objects, drawn_rules
from penstock.pipeline.parse.pdf.words import placed_words
from penstock.pipeline.reasons import Reason, rejected

_WORD = re.compile(r"\w+")
_END_MARK = b"%%EOF"
_PASSWORD = 4
"""pdfium's error code for a document that needs a password."""


@dataclass(frozen=True, slots=True)
class PlainPage:
    """One page: its plain text and whether something other than text is drawn on it."""

    number: int
    text: str
    has_pictures: bool
    is_damaged: bool = False
    """pdfium could not load it."""

    @property
    def words(self) -> int:
        return count_words(self.text)


@dataclass(frozen=True, slots=True)
class PdfFile:
    document: pypdfium2.PdfDocument
    said: Mapping[str, str]
    """The info dictionary: Title, Author, CreationDate, …"""

    def pages(self) -> Iterator[tuple[PlainPage, PlacedPage]]:
        """All pages in order; each is closed before the next is opened, to save memory."""
        for index in range(len(self.document)):
            with contextlib.ExitStack() as held:
                try:
                    page = held.enter_context(contextlib.closing(self.document[index]))
                    text = held.enter_context(contextlib.closing(page.get_textpage()))
                except pypdfium2.PdfiumError:
                    yield _damaged_page(index + 1)
                    continue
                yield self._read(index + 1, page, text)

    def _read(
        self, number: int, page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage
    ) -> tuple[PlainPage, PlacedPage]:
        said, drawn = text.get_text_range(), drawn_objects(page)
        words = placed_words(text, said)
        if values := list(field_words(page, self.document.formenv)):
            words.setdefault(0, []).extend(values)
        rules = tuple(drawn_rules(drawn)) if words else ()
        return PlainPage(number, said, has_pictures=bool(drawn)), PlacedPage(number, words, rules)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[PdfFile]:
    """The opened file; raises the reason if pdfium cannot open it: a password, a missing end, or damage."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise _refusal(path, error) from error
    try:
        document.init_forms()
        yield PdfFile(document, document.get_metadata_dict(skip_empty=True))
    finally:
        document.close()


def _damaged_page(number: int) -> tuple[PlainPage, PlacedPage]:
    return PlainPage(number, "", has_pictures=False, is_damaged=True), PlacedPage(number, {})


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
