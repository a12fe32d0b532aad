"""Reads the text in a picture with OCR; a TIFF may have several pages."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse import guards
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.recognition import described, recognized, warnings_of
from penstock.pipeline.parse.result import FileMetadata, parsed
from penstock.pipeline.parse.scan_pages import pages_of_picture


class PictureReader:
    def read(self, source: ParserInput) -> Parsed:
        guards.check_picture(source.path)
        texts: list[tuple[int | None, str]] = []
        confidence: dict[int, float] = {}
        unread: list[int] = []
        for number, picture in enumerate(pages_of_picture(source.path), start=1):
            page = recognized(picture, language=source.ocr_language)
            texts.append((number, page.markdown()))
            if page.words:
                confidence[number] = page.confidence
            elif page.inked:
                confidence[number] = 0.0
                unread.append(number)
        return parsed(
            texts,
            parser="ocr",
            about=FileMetadata(metadata=described(confidence)),
            page_count=len(texts),
            warnings=tuple(warnings_of(confidence, unread)),
        )


READER = PictureReader()
