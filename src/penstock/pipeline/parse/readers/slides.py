"""Reads PPTX: one page per slide, followed by the speaker's notes."""

from __future__ import annotations

from pathlib import Path

import pptx
from pptx.exc import PackageNotFoundError

from penstock.model import Parsed, media
from penstock.pipeline.parse import engine, guards
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import FileMetadata, parsed


class SlidesReader:
    def read(self, source: ParserInput) -> Parsed:
        guards.check_office(source.path)
        document = engine.extract(source.path, mime_type=media.PPTX, filename="document.pptx")
        notes, warnings = _notes(source.path)
        texts = {page.page_number: engine.prose(page.content) for page in document.pages or ()}
        pages: list[tuple[int | None, str]] = []
        for number in sorted(texts.keys() | notes.keys()):
            spoken = f"\n\nNotes: {notes[number]}" if number in notes else ""
            pages.append((number, texts.get(number, "") + spoken))
        return parsed(
            pages,
            parser="xberg",
            about=FileMetadata.of(document),
            page_count=len(texts) or None,
            warnings=warnings,
        )


def _notes(path: Path) -> tuple[dict[int, str], tuple[str, ...]]:
    """The speaker's notes by slide, which xberg omits."""
    try:
        deck = pptx.Presentation(str(path))
        found = {
            number: frame.text.strip()
            for number, slide in enumerate(deck.slides, start=1)
            if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None
        }
    except (PackageNotFoundError, SyntaxError, KeyError, ValueError, AttributeError) as error:
        # The slides themselves were read; a deck without its notes is better than none.
        return {}, (f"the speaker's notes cannot be read: {type(error).__name__}",)
    return {number: said for number, said in found.items() if said}, ()


READER = SlidesReader()
