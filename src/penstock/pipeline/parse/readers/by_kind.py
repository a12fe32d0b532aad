"""Finds the reader of a file type; its module and library are imported at the first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from penstock.model import media
from penstock.pipeline.parse.protocol import FileReader

MODULES = {
    media.TEXT: "plain",
    media.MARKDOWN: "markdown",
    media.HTML: "web",
    media.CSV: "delimited",
    media.PDF: "pdf",
    media.DOCX: "word",
    media.PPTX: "slides",
    media.XLSX: "sheets",
    media.EML: "mail",
    media.MSG: "outlook",
    media.ZIP: "archive",
    media.TNEF: "tnef",
    **dict.fromkeys(media.IMAGES, "picture"),
}


@cache
def reader_of(kind: str) -> FileReader:
    """The `READER` of the sibling module for this type."""
    reader: FileReader = import_module(f"{__package__}.{MODULES[kind]}").READER
    return reader
