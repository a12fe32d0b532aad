"""Finds the reader of a kind of file; its module and the library behind it are imported at the first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from penstock.model import media
from penstock.pipeline.parse.protocol import Reader

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
    **dict.fromkeys(media.IMAGES, "picture"),
}


@cache
def reader_of(kind: str) -> Reader:
    """The `READER` of the module beside this one that reads the kind."""
    reader: Reader = import_module(f"{__package__}.{MODULES[kind]}").READER
    return reader
