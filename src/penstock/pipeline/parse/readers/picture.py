"""Reads the text in a picture with OCR."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse import engine, guards
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import parsed


class PictureReader:
    def read(self, source: ParserInput) -> Parsed:
        guards.check_picture(source.path)
        text = engine.recognize(
            source.path.read_bytes(), mime_type=source.mime_type, language=source.ocr_language
        )
        pages: list[tuple[int | None, str]] = list(enumerate(text.split("\f"), start=1))
        return parsed(pages, parser="ocr", plain=True, page_count=len(pages))


READER = PictureReader()
