"""The protocols of parsing: a parser turns a file into text; a reader does so for some types."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from penstock.model import Parsed
from penstock.pipeline.parsed_files import ParsedHead, ParsedWriter


class Parser(Protocol):
    """Turns a file into text, anywhere; raises DocumentRejected if that is impossible."""

    async def parse(self, path: Path, *, mime_type: str, filename: str | None) -> Parsed: ...


@dataclass(frozen=True, slots=True)
class ParserInput:
    """A file to parse, as a reader gets it."""

    path: Path
    mime_type: str
    filename: str | None = None
    ocr_language: str = "eng"

    @property
    def name(self) -> str:
        return self.filename or self.path.name


class FileReader(Protocol):
    """Reads one type of file; synchronous, since it runs in its own process."""

    def read(self, source: ParserInput) -> Parsed:
        """The whole text with its structure; the caller rejects an empty text."""


@runtime_checkable
class StreamingReader(Protocol):
    """A reader that never has the whole text in memory."""

    def read_into(self, source: ParserInput, out: ParsedWriter) -> ParsedHead:
        """Write the text and its blocks piece by piece; writes nothing if there are no words."""
