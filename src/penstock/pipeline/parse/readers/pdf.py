"""Reads PDF page by page: by the layout of its words, checked against pdfium and xberg, pictures by OCR."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from penstock.errors import DocumentRejected
from penstock.model import Parsed, media
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.pdf.choice import PageChoice, choose, needs_other, ranges, reasons, summary
from penstock.pipeline.parse.pdf.headings import outline_of
from penstock.pipeline.parse.pdf.hyphens import as_markers, words_of
from penstock.pipeline.parse.pdf.reading import Layout, PlacedPage, escaped, read_layout
from penstock.pipeline.parse.pdf_scans import ScansRead, read_scans
from penstock.pipeline.parse.pdfium import PdfFile, PlainPage, opened
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.recognition import described as described_confidence
from penstock.pipeline.parse.result import FileMetadata, described, parsed
from penstock.pipeline.reasons import Reason, rejected

# Bullets may appear as headings or as private-use characters of symbol fonts.
_BULLET = re.compile(r"^(?:#{1,6} )?[•◦▪‣●○■\x7f\uf0b7\uf0a7][ \t]*", re.M)


class PdfReader:
    def read(self, source: ParserInput) -> Parsed:
        with opened(source.path) as file:
            pages: list[PlainPage] = []
            layout = read_layout(_collected(file, pages), outline_of(file.document))
            if all(page.is_damaged for page in pages):
                raise rejected(Reason.MALFORMED, "none of the pages can be read")
            by_layer = _by_text_layer(layout, pages, _by_xberg(source, pages))
            scans = read_scans(source, file, pages, {one: choice.text for one, choice in by_layer.items()})
            taken = [(page.number, _taken(by_layer[page.number], page, scans)) for page in pages]
            said = described(pdf_reading=summary(taken), pdf_repeated_lines=" | ".join(layout.repeated))
            about = _about(file.said)
            return parsed(
                [(number, choice.text) for number, choice in taken],
                parser=_names(taken),
                about=replace(
                    about, metadata={**about.metadata, **said, **described_confidence(scans.confidence)}
                ),
                page_count=len(pages),
                warnings=(*reasons(taken), *_damaged(pages), *scans.warnings),
            )


def _by_text_layer(
    layout: Layout, pages: Sequence[PlainPage], other: Mapping[int, str]
) -> dict[int, PageChoice]:
    """What is chosen for each page without OCR; `other` is xberg's text."""
    hyphens = words_of(page.text for page in pages)
    choices: dict[int, PageChoice] = {}
    for page in pages:
        plain = escaped(hyphens.joined(as_markers(page.text)))
        text = layout.markdown(page.number, hyphens)
        read = layout.pages[page.number]
        choices[page.number] = choose(
            plain=plain,
            layout=text,
            signs=read.signs,
            dropped=read.dropped,
            fields=read.fields,
            xberg=other.get(page.number),
        )
    return choices


def _taken(choice: PageChoice, page: PlainPage, scans: ScansRead) -> PageChoice:
    """What is taken in the end: what OCR read, or the choice, which may have no text."""
    number = page.number
    if number in scans.texts:
        return PageChoice(scans.texts[number], "ocr", scans.reasons[number])
    if choice.text.strip():
        return choice
    if page.is_damaged:
        return PageChoice("", "damaged")
    if number in scans.skipped:
        return PageChoice("", "empty", "a picture that was not read")
    return PageChoice("", "empty", "a picture without words" if number in scans.unread else "")


def _names(taken: Sequence[tuple[int, PageChoice]]) -> str:
    """The readings that gave text: `layout+ocr`."""
    used = dict.fromkeys(choice.reading for _, choice in taken if choice.text.strip())
    return "+".join(sorted(used, key=lambda reading: reading == "ocr")) or "layout"


def _collected(file: PdfFile, pages: list[PlainPage]) -> Iterator[PlacedPage]:
    for page, placed in file.pages():
        pages.append(page)
        yield placed


def _by_xberg(source: ParserInput, pages: list[PlainPage]) -> dict[int, str]:
    """xberg's text, if pdfium's is poor on some page. What xberg cannot read is not lost by that."""
    if any(page.words for page in pages) and not any(needs_other(page.text) for page in pages):
        return {}
    try:
        document = engine.extract(source.path, mime_type=media.PDF, filename="document.pdf")
    except DocumentRejected:
        return {}  # pdfium's words, or OCR's if there are none
    return {page.page_number: _listed(engine.prose(page.content)) for page in document.pages or ()}


def _damaged(pages: Sequence[PlainPage]) -> list[str]:
    numbers = [page.number for page in pages if page.is_damaged]
    return [f"page {ranges(numbers)}: damaged, so nothing was read of it"] if numbers else []


def _listed(markdown: str) -> str:
    return _BULLET.sub("- ", markdown)


def _about(said: Mapping[str, str]) -> FileMetadata:
    return FileMetadata(
        title=cleaned_line(said.get("Title")),
        author=cleaned_line(said.get("Author")),
        created_at=moment(said.get("CreationDate")),
        modified_at=moment(said.get("ModDate")),
        metadata=described(subject=said.get("Subject"), keywords=said.get("Keywords")),
    )


READER = PdfReader()
