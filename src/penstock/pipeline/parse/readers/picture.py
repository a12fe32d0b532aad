"""Reads the words in a picture by OCR."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse import engine, guards
from penstock.pipeline.parse.protocol import Paper
from penstock.pipeline.parse.result import parsed


class PictureReader:
    def read(self, paper: Paper) -> Parsed:
        guards.check_picture(paper.path)
        text = engine.recognize(
            paper.path.read_bytes(), mime_type=paper.mime_type, language=paper.ocr_language
        )
        pages: list[tuple[int | None, str]] = list(enumerate(text.split("\f"), start=1))
        return parsed(pages, parser="ocr", plain=True, page_count=len(pages))


READER = PictureReader()
