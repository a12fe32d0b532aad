"""The seams of parsing: a parser takes a file to text, a reader does so for some kinds inside the sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from penstock.model import Parsed
from penstock.pipeline.parse.spool import ParsedHead, ParsedWriter


class Parser(Protocol):
    """Makes text out of a file, wherever that happens; raises DocumentRejected when it cannot be done."""

    async def parse(self, path: Path, *, mime_type: str, filename: str | None) -> Parsed: ...


@dataclass(frozen=True, slots=True)
class Paper:
    """A file on a reader's table."""

    path: Path
    mime_type: str
    filename: str | None = None
    ocr_language: str = "eng"

    @property
    def name(self) -> str:
        return self.filename or self.path.name


class Reader(Protocol):
    """Reads a kind of file, synchronously: it has a process of its own."""

    def read(self, paper: Paper) -> Parsed:
        """The whole text with its structure; an empty text is for the caller to refuse."""


@runtime_checkable
class StreamingReader(Protocol):
    """A reader that never holds the whole text."""

    def read_into(self, paper: Paper, out: ParsedWriter) -> ParsedHead:
        """Write the text and its blocks as they come; no characters when there are no words."""
