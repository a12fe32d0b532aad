"""Reads PPTX: one page per slide, followed by the speaker's notes."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse.office import ooxml
from penstock.pipeline.parse.office.package import Package
from penstock.pipeline.parse.office.slides import read_slides
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import parsed


class SlidesReader:
    def read(self, source: ParserInput) -> Parsed:
        with Package(source.path) as package:
            slides = read_slides(package)
            about = ooxml.about(package)
        return parsed(
            [(slide.number, slide.text) for slide in slides],
            parser="pptx",
            about=about,
            page_count=slides[-1].number if slides else None,
        )


READER = SlidesReader()
