"""Reads PPT files: the slides with their titles, text, tables and the speaker's notes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from penstock.pipeline.parse.compound import CompoundFile
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.ppt_records import PptRecord, current_parts, records
from penstock.pipeline.parse.office.slide_shapes import Box, reading_order
from penstock.pipeline.reasons import Reason, rejected

_DOCUMENT, _SLIDE, _NOTES, _NOTES_ATOM, _DRAWING, _LIST, _PERSIST = 1000, 1006, 1008, 1009, 1036, 4080, 1011
_HEADER, _CHARS, _BYTES, _REFERENCE = 3999, 4000, 4008, 3998
_GROUP, _SHAPE, _ANCHOR, _CHILD_ANCHOR, _TEXTBOX, _PROPERTIES = 0xF003, 0xF004, 0xF010, 0xF00F, 0xF00D, 0xF122
_TABLE = 0x039F
_TITLES, _NOTES_TEXT = (0, 6), 2
_SLIDES_LIST, _NOTES_LIST = 0, 2


class SlideText(NamedTuple):
    kind: int
    """As its header says: 0 and 6 are titles, 2 is the text of notes."""
    said: str


class _Found(NamedTuple):
    texts: list[SlideText]
    rows: list[list[str]]
    """Filled for a table."""


def read_ppt(file: CompoundFile) -> list[str]:
    """The text of each slide."""
    stream = file.stream("PowerPoint Document") or b""
    if not stream:
        raise rejected(Reason.MALFORMED, "the file contains no presentation")
    parts = current_parts(stream, file.stream("Current User") or b"")
    document = next((record for record in parts.values() if record.kind == _DOCUMENT), None)
    if document is None:
        raise rejected(Reason.MALFORMED, "the file contains no presentation")
    slides: list[tuple[int, int, list[SlideText]]] = []
    notes: dict[int, str] = {}
    for listed in records(document.data):
        if listed.kind == _LIST and listed.instance == _SLIDES_LIST:
            # Each part once: a list that repeats a part would have it read again and again.
            slides = list({slide[0]: slide for slide in _listed(listed)}.values())
        elif listed.kind == _LIST and listed.instance == _NOTES_LIST:
            for part in {part for part, _, _ in _listed(listed)}:
                if part in parts and parts[part].kind == _NOTES:
                    notes.update(_notes(parts[part]))
    return [_slide(parts.get(part), outline, notes.get(identity, "")) for part, identity, outline in slides]


def _listed(listed: PptRecord) -> Iterator[tuple[int, int, list[SlideText]]]:
    """The parts of a list with their identity, and the text of their placeholders."""
    current: tuple[int, int, list[SlideText]] | None = None
    kind = 4
    for record in records(listed.data):
        if record.kind == _PERSIST and len(record.data) >= 16:
            if current is not None:
                yield current
            part, _, _, identity = struct.unpack_from("<IIII", record.data)
            current = (part, identity, [])
        elif record.kind == _HEADER:
            kind = _header(record)
            if current is not None:
                current[2].append(SlideText(kind, ""))
        elif record.kind in (_CHARS, _BYTES) and current is not None and current[2]:
            current[2][-1] = SlideText(kind, _decoded(record))
    if current is not None:
        yield current


def _slide(part: PptRecord | None, outline: list[SlideText], notes: str) -> str:
    pieces = Pieces()
    found: list[tuple[_Found, Box | None]] = []
    if part is not None and part.kind == _SLIDE:
        for drawing in (one for one in records(part.data) if one.kind == _DRAWING):
            found += _drawn(drawing, outline)
    else:
        found = [(_Found(outline, []), None)]
    texts = [text for held, _ in found for text in held.texts]
    title = next((text for text in texts if text.kind in _TITLES and text.said.strip()), None)
    if title is not None:
        pieces.heading(2, title.said)
    for held in reading_order(found):
        if held.rows:
            pieces.table(held.rows)
        for text in held.texts:
            if text is not title:
                for line in text.said.split("\n"):
                    pieces.paragraph(line)
    if notes:
        pieces.paragraph(f"Notes: {notes}")
    return pieces.text()


def _drawn(parent: PptRecord, outline: list[SlideText]) -> Iterator[tuple[_Found, Box | None]]:
    """The texts and tables in a drawing; what is in a group has the place of the group."""
    for record in records(parent.data):
        if record.kind == _SHAPE:
            texts, box, _ = _shape(record, outline)
            if texts:
                yield _Found(texts, []), box
        elif record.kind == _GROUP:
            shapes = [one for one in records(record.data) if one.kind == _SHAPE]
            box, is_table = _shape(shapes[0], outline)[1:] if shapes else (None, False)
            if is_table:
                yield _Found([], _rows([_shape(one, outline) for one in shapes[1:]])), box
            else:
                for held, inner in _drawn(record, outline):
                    yield held, box or inner
        elif record.is_container:
            yield from _drawn(record, outline)


def _shape(shape: PptRecord, outline: list[SlideText]) -> tuple[list[SlideText], Box | None, bool]:
    texts: list[SlideText] = []
    box: Box | None = None
    is_table = False
    for record in records(shape.data):
        if record.kind == _ANCHOR and len(record.data) >= 8:
            top, left, right, bottom = struct.unpack_from("<4h", record.data)
            box = Box(left, top, right, bottom)
        elif record.kind == _CHILD_ANCHOR and len(record.data) >= 16:
            box = Box(*struct.unpack_from("<4i", record.data))
        elif record.kind == _TEXTBOX:
            texts += _boxed(record, outline)
        elif record.kind == _PROPERTIES:
            numbers = struct.iter_unpack(
                "<HI", record.data[: min(record.instance, len(record.data) // 6) * 6]
            )
            is_table = any(number & 0x3FFF == _TABLE for number, _ in numbers)
    return texts, box, is_table


def _boxed(box: PptRecord, outline: list[SlideText]) -> Iterator[SlideText]:
    kind = 4
    for record in records(box.data):
        if record.kind == _HEADER:
            kind = _header(record)
        elif record.kind in (_CHARS, _BYTES):
            yield SlideText(kind, _decoded(record))
        elif record.kind == _REFERENCE and len(record.data) >= 4:
            (place,) = struct.unpack_from("<I", record.data)
            if place < len(outline):
                yield outline[place]


def _rows(cells: list[tuple[list[SlideText], Box | None, bool]]) -> list[list[str]]:
    """The cells of a table in rows by their upper edge; a merged cell is followed by empty ones."""
    placed = [(texts, box) for texts, box, _ in cells if box is not None and _has_area(box)]
    columns = {left: at for at, left in enumerate(sorted({box.left for _, box in placed}))}
    rows: dict[int, list[str]] = {}
    for texts, box in placed:
        row = rows.setdefault(box.top, [""] * len(columns))
        row[columns[box.left]] = " ".join(text.said for text in texts)
    return [rows[top] for top in sorted(rows)]


def _has_area(box: Box) -> bool:
    """Whether it is a cell, not one of the lines between them."""
    return box.right > box.left and box.bottom > box.top


def _notes(part: PptRecord) -> dict[int, str]:
    """What the speaker noted, under the identity of the slide."""
    identity = 0
    said = []
    for record in records(part.data):
        if record.kind == _NOTES_ATOM and len(record.data) >= 4:
            (identity,) = struct.unpack_from("<I", record.data)
        elif record.kind == _DRAWING:
            texts = (text for held, _ in _drawn(record, []) for text in held.texts)
            said += [text.said for text in texts if text.kind == _NOTES_TEXT]
    return {identity: "\n".join(said).strip()}


def _header(record: PptRecord) -> int:
    return int(struct.unpack_from("<I", record.data)[0]) if len(record.data) >= 4 else 4


def _decoded(record: PptRecord) -> str:
    text = bytes(record.data).decode("utf-16-le" if record.kind == _CHARS else "latin-1", "replace")
    return text.replace("\r", "\n").replace("\x0b", "\n")
