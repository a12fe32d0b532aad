"""Reads plain text in any encoding."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from penstock.model import Parsed, sniffing
from penstock.pipeline.parse import language
from penstock.pipeline.parse.blocks import Paragraphs
from penstock.pipeline.parse.clean import cleaned_pieces
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import parsed
from penstock.pipeline.parsed_files import ParsedHead, ParsedWriter

_PIECE = 1 << 20


class PlainReader:
    def read(self, source: ParserInput) -> Parsed:
        text, encoding = decoded(source.path.read_bytes())
        return parsed([(None, text)], parser="text", plain=True, warnings=_warnings(encoding))

    def read_into(self, source: ParserInput, out: ParsedWriter) -> ParsedHead:
        """Like `read`, piece by piece."""
        encoding = _encoding(source.path)
        paragraphs = Paragraphs()
        pieces = cleaned_pieces(_decoded_pieces(source.path, encoding))
        for piece in pieces:
            out.add_text(piece)
            for block in paragraphs.add(piece):
                out.add_block(block)
        for block in paragraphs.end():
            out.add_block(block)
        if not paragraphs.found:
            out.characters = 0
        sample = language.sample(out.written())
        about = Parsed("", (), "text", language=language.guess(sample), warnings=_warnings(encoding))
        return out.head(about)


def _warnings(encoding: str) -> tuple[str, ...]:
    return () if encoding != "cp1252" else ("the encoding is a guess: Windows-1252",)


def _encoding(path: Path) -> str:
    """Like `decoded`, without the whole file in memory."""
    with path.open("rb") as file:
        found = sniffing.text_encoding(file.read(sniffing.HEAD_BYTES))
        if found is not None:
            return found
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while data := file.read(_PIECE):
                decoder.decode(data)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _decoded_pieces(path: Path, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    with path.open("rb") as file:
        while data := file.read(_PIECE):
            yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def decoded(data: bytes) -> tuple[str, str]:
    """The text and its encoding: by a byte order mark or the pattern of NULs, then UTF-8, then Windows-1252,
    which has characters where Latin-1 has controls."""
    encoding = sniffing.text_encoding(data[: sniffing.HEAD_BYTES])
    if encoding is not None:
        return data.decode(encoding, "replace").lstrip("\ufeff"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "cp1252"


READER = PlainReader()
