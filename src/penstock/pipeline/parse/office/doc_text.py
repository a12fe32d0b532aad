"""Reads the text of a DOC file: its pieces put together, without hidden text and the codes of fields."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from typing import NamedTuple

from penstock.pipeline.parse.compound import CompoundFile
from penstock.pipeline.parse.office.doc_properties import DocStyles, Run, Runs
from penstock.pipeline.reasons import Reason, rejected

_MAGIC = 0xA5EC
_WORD_97 = 0x00C1
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
_FIRST_PAIR = 0x9A
_STYLES, _CHARACTERS, _PARAGRAPHS, _PIECES = 1, 12, 13, 33
_COMPRESSED = 1 << 30
_MARKS = re.compile(r"[\x13\x14\x15]")


class _Piece(NamedTuple):
    first: int
    last: int
    position: int
    width: int


class DocText:
    """A DOC file's text by character, and where each part of the document lies in it."""

    def __init__(self, file: CompoundFile) -> None:
        document = file.stream("WordDocument") or b""
        if len(document) < 0x1AA or struct.unpack_from("<H", document)[0] != _MAGIC:
            raise rejected(Reason.MALFORMED, "the file contains no document")
        version, flags = struct.unpack_from("<H6xH", document, 2)
        if flags & _ENCRYPTED:
            raise rejected(Reason.ENCRYPTED, "the office file is protected by a password")
        if version < _WORD_97:
            raise rejected(Reason.UNSUPPORTED, "the file was written by a version of Word before Word 97")
        self._document = document
        self._table = file.stream("1Table" if flags & _SECOND_TABLE else "0Table") or b""
        main, notes, headers, macros, comments, end_notes, boxes = struct.unpack_from("<7i", document, 0x4C)
        lengths = (main, notes, headers, macros, comments, end_notes, boxes)
        if min(lengths) < 0:
            raise rejected(Reason.MALFORMED, "the parts of the document have impossible lengths")
        self._pieces = self._found_pieces()
        self._firsts = [piece.first for piece in self._pieces]
        self._runs = Runs(document, self._part(_PARAGRAPHS), of_paragraphs=True)
        self.styles = DocStyles(self._part(_STYLES))
        self.text = self._whole(Runs(document, self._part(_CHARACTERS), of_paragraphs=False).removed())
        after_headers = main + notes + headers + macros + comments
        self.main = (0, main)
        self.notes = (main, main + notes)
        self.end_notes = (after_headers, after_headers + end_notes)
        self.boxes = (after_headers + end_notes, after_headers + end_notes + boxes)

    def paragraph(self, at: int) -> Run | None:
        """The formatting of the paragraph that the character at this place ends."""
        place = bisect_right(self._firsts, at) - 1
        if place < 0:
            return None
        piece = self._pieces[place]
        return self._runs.at(piece.position + (at - piece.first) * piece.width)

    def _part(self, number: int) -> bytes:
        start, size = struct.unpack_from("<II", self._document, _FIRST_PAIR + 8 * number)
        return self._table[start : start + size]

    def _found_pieces(self) -> list[_Piece]:
        held = self._part(_PIECES)
        at = 0
        while at + 3 <= len(held) and held[at] == 1:
            at += 3 + struct.unpack_from("<H", held, at + 1)[0]
        if at + 5 > len(held) or held[at] != 2:
            raise rejected(Reason.TRUNCATED, "the table of the text's pieces is missing")
        table = held[at + 5 : at + 5 + struct.unpack_from("<I", held, at + 1)[0]]
        count = (len(table) - 4) // 12
        found: list[_Piece] = []
        for number in range(count):
            first, last = struct.unpack_from("<II", table, 4 * number)
            (place,) = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * number + 2)
            is_narrow = bool(place & _COMPRESSED)
            position = (place & (_COMPRESSED - 1)) // 2 if is_narrow else place
            if last > first and not (found and first < found[-1].last):
                found.append(_Piece(first, last, position, 1 if is_narrow else 2))
        if sum(piece.last - piece.first for piece in found) > len(self._document):
            raise rejected(Reason.MALFORMED, "its pieces of text are longer than the file")
        return found

    def _whole(self, removed: list[tuple[int, int]]) -> str:
        """The text, with NULs for what is hidden or the code of a field; every character keeps its place."""
        parts: list[str] = []
        length = 0
        for piece in self._pieces:
            parts.append("\0" * min(piece.first - length, len(self._document)))
            held = self._document[piece.position : piece.position + (piece.last - piece.first) * piece.width]
            if piece.width == 1:
                text = held.decode("cp1252", "replace")
            else:
                text = "".join(map(chr, struct.unpack(f"<{len(held) // 2}H", held[: len(held) & ~1])))
            if len(text) < piece.last - piece.first:
                raise rejected(Reason.TRUNCATED, "the text ends before its last piece")
            parts.append(_without(text, piece, removed))
            length = piece.last
        return _without_field_codes("".join(parts))


def _without(text: str, piece: _Piece, removed: list[tuple[int, int]]) -> str:
    end = piece.position + len(text) * piece.width
    parts: list[str] = []
    at = 0
    for start, stop in removed[max(0, bisect_right(removed, (piece.position,)) - 1) :]:
        if start >= end:
            break
        first = max(at, (start - piece.position) // piece.width)
        last = min(len(text), (stop - piece.position) // piece.width)
        if last > first:
            parts += (text[at:first], _blank(text[first:last]))
            at = last
    return "".join((*parts, text[at:]))


def _blank(text: str) -> str:
    """NULs, but the ends of paragraphs and cells stay."""
    return "".join(one if one in "\r\x07\x13\x14\x15" else "\0" for one in text)


def _without_field_codes(text: str) -> str:
    parts: list[str] = []
    opened: list[bool] = []  # whether the result of each open field has begun
    at = 0
    for found in _MARKS.finditer(text):
        piece = text[at : found.start()]
        parts.append(piece if all(opened) else _blank(piece))
        parts.append("\0")
        at = found.end()
        if found[0] == "\x13":
            opened.append(False)
        elif opened and found[0] == "\x14":
            opened[-1] = True
        elif opened:
            opened.pop()
    parts.append(text[at:])
    return "".join(parts)
