"""Reads plain text in whatever encoding it comes."""

from __future__ import annotations

from penstock.model import Parsed, media
from penstock.pipeline.parse.protocol import Paper
from penstock.pipeline.parse.result import parsed


class PlainReader:
    kinds = frozenset({media.TEXT})

    def read(self, paper: Paper) -> Parsed:
        text, encoding = decoded(paper.path.read_bytes())
        warnings = () if encoding != "cp1252" else ("the encoding is a guess: Windows-1252",)
        return parsed([(None, text)], parser="text", plain=True, warnings=warnings)


def decoded(data: bytes) -> tuple[str, str]:
    """The text and its encoding: by a byte order mark or the pattern of NULs, then UTF-8, then Windows-1252,
    which has a character for what Latin-1 leaves to controls."""
    encoding = media.text_encoding(data[: media.HEAD_BYTES])
    if encoding is not None:
        return data.decode(encoding, "replace").lstrip("\ufeff"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "cp1252"
