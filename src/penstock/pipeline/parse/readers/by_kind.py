"""Finds the reader of a file type; its module and library are imported at the first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from penstock.model import media, text_media
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
    media.DOC: "old_office",
    media.PPT: "old_office",
    media.XLS: "old_office",
    media.EPUB: "epub",
    media.RTF: "rich_text",
    **dict.fromkeys(media.OPEN_DOCUMENT, "opendocument"),
    media.EML: "mail",
    media.MSG: "outlook",
    media.ZIP: "archive",
    media.TNEF: "tnef",
    **dict.fromkeys(media.IMAGES, "picture"),
    **dict.fromkeys({media.TAR, *media.PACKED}, "tar"),
    **dict.fromkeys((text_media.JSON, text_media.JSON_LINES), "json_data"),
    **dict.fromkeys((text_media.XML, text_media.JATS), "xml_data"),
    text_media.LATEX: "latex",
    text_media.ASCIIDOC: "asciidoc",
    text_media.RST: "rst",
    text_media.ORG: "org",
    text_media.NOTEBOOK: "notebook",
    **dict.fromkeys((text_media.SUBRIP, text_media.WEBVTT), "subtitles"),
    **dict.fromkeys(text_media.CODE, "source_code"),
}


@cache
def reader_of(kind: str) -> FileReader:
    """The `READER` of the sibling module for this type."""
    reader: FileReader = import_module(f"{__package__}.{MODULES[kind]}").READER
    return reader
