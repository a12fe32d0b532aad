"""Reads PDF: pages and tables with xberg, checked against pdfium, and OCR for pages that are pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.errors import DocumentRejected
from penstock.model import Parsed, media
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.columns import with_tables
from penstock.pipeline.parse.pdfium import PdfFile, Sheet, count_words, opened
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import FileMetadata, parsed
from penstock.pipeline.reasons import Reason

_ENOUGH = 0.6
"""Share of the words pdfium finds; with fewer, xberg lost text and pdfium's plain text is used."""
# Bullets may appear as headings or as private-use characters of symbol fonts.
_BULLET = re.compile(r"^(?:#{1,6} )?[•◦▪‣●○■\x7f\uf0b7\uf0a7][ \t]*", re.M)


class PdfReader:
    def read(self, source: ParserInput) -> Parsed:
        with opened(source.path) as file:
            sheets = list(file.sheets())
            texts, about, parser, warnings = _by_text_layer(source, file, sheets)
            pictures = [one for one in sheets if one.has_pictures and not texts.get(one.number, "").strip()]
            if pictures:
                read = _by_ocr(
                    source, file, pictures, warnings, alone=not any(map(str.strip, texts.values()))
                )
                texts |= read
                if read:
                    parser = "ocr" if len(read) == len(sheets) else f"{parser}+ocr"
            return parsed(
                sorted(texts.items()),
                parser=parser,
                about=about,
                plain=not parser.startswith("xberg"),
                page_count=len(sheets),
                warnings=tuple(warnings),
            )


def _by_text_layer(
    source: ParserInput, file: PdfFile, sheets: list[Sheet]
) -> tuple[dict[int | None, str], FileMetadata, str, list[str]]:
    """xberg's text, or pdfium's if xberg fails or loses words."""
    seen = sum(sheet.words for sheet in sheets)
    try:
        document = engine.extract(source.path, mime_type=media.PDF, filename="document.pdf")
    except DocumentRejected as error:
        if error.code != Reason.MALFORMED or not seen:
            raise
        found: dict[int | None, str] = {}
        about, lost = FileMetadata(), f"xberg cannot read it ({error.reason})"
    else:
        segments = {sheet.number: sheet.segments for sheet in sheets}
        found = {
            page.page_number: with_tables(
                _listed(engine.prose(page.content)), segments.get(page.page_number, ())
            )
            for page in document.pages or ()
        }
        about = FileMetadata.of(document)
        got = sum(map(count_words, found.values()))
        lost = f"xberg found {got} of {seen} words" if got < seen * _ENOUGH else ""
    if not (about.title or about.author or about.created_at):
        about = _about(file.said)
    if not lost:
        return found, about, "xberg", []
    plain: dict[int | None, str] = {sheet.number: sheet.text for sheet in sheets}
    return plain, about, "pdfium-fallback", [f"{lost}; pdfium's text is used, without tables"]


def _by_ocr(
    source: ParserInput, file: PdfFile, pictures: list[Sheet], warnings: list[str], *, alone: bool
) -> dict[int | None, str]:
    """The text on pages that are pictures. Without OCR, a scan is rejected; a text with a picture is not."""
    read: dict[int | None, str] = {}
    for sheet in pictures:
        try:
            said = engine.recognize(
                file.bitmap(sheet.number), mime_type=media.BMP, language=source.ocr_language
            )
        except DocumentRejected as error:
            if alone or error.code != Reason.OCR_UNAVAILABLE:
                raise
            warnings.append(f"{len(pictures)} pages are pictures and were not read: {error.reason}")
            return {}
        if said.strip():
            read[sheet.number] = said
    return read


def _listed(markdown: str) -> str:
    return _BULLET.sub("- ", markdown)


def _about(said: Mapping[str, str]) -> FileMetadata:
    return FileMetadata(
        title=cleaned_line(said.get("Title")),
        author=cleaned_line(said.get("Author")),
        created_at=moment(said.get("CreationDate")),
        modified_at=moment(said.get("ModDate")),
    )


READER = PdfReader()
