"""Writes small PDF files: paragraphs in Helvetica, headings, tables, as many pages as needed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime

from penstock.cli.demo.files.content import Piece, Rows, heading
from penstock.cli.demo.files.helvetica import width, wrapped

_PAGE_WIDTH, _PAGE_HEIGHT, _MARGIN = 595.0, 842.0, 72.0
_BODY, _LEADING = 11.0, 15.0
_HEADINGS = {1: 20.0, 2: 16.0, 3: 13.0}
_CELL = 6.0


def pdf(
    title: str,
    pages: Sequence[Sequence[Piece]],
    *,
    author: str = "",
    created: datetime | None = None,
    ruled: bool = True,
) -> bytes:
    """A PDF with the given pages; what does not fit continues on another page. `ruled` draws table lines."""
    drawn = [sheet for page in pages for sheet in _Sheets(page, ruled=ruled).drawn]
    return _file(drawn, _info(title, author, created or datetime.now(UTC)))


class _Sheets:
    """Draws pieces from the top of a page downwards."""

    def __init__(self, pieces: Sequence[Piece], *, ruled: bool) -> None:
        self.drawn: list[list[str]] = [[]]
        self._y = _PAGE_HEIGHT - _MARGIN
        self._ruled = ruled
        for piece in pieces:
            if isinstance(piece, str):
                self._words(piece)
            else:
                self._table(piece)

    def _words(self, piece: str) -> None:
        level, words = heading(piece)
        size = _HEADINGS.get(level, _BODY)
        font = "F2" if level else "F1"
        for line in wrapped(words, size, _PAGE_WIDTH - 2 * _MARGIN):
            self._room(size * 1.4)
            self._text(_MARGIN, self._y - size, line, size, font)
            self._y -= size * 1.35
        self._y -= size * 0.8

    def _table(self, rows: Rows) -> None:
        columns = max(map(len, rows))
        widths = [
            max(width(row[column], _BODY) for row in rows if column < len(row)) + 4 * _CELL
            for column in range(columns)
        ]
        height = _LEADING + _CELL
        for row in rows:
            self._room(height)
            x = _MARGIN
            for cell, wide in zip(row, widths, strict=False):
                if self._ruled:
                    self.drawn[-1].append(f"{x:.1f} {self._y - height:.1f} {wide:.1f} {height:.1f} re S")
                self._text(x + _CELL, self._y - height + _CELL, cell, _BODY, "F1")
                x += wide
            self._y -= height
        self._y -= _LEADING

    def _room(self, height: float) -> None:
        if self._y - height < _MARGIN:
            self.drawn.append([])
            self._y = _PAGE_HEIGHT - _MARGIN

    def _text(self, x: float, y: float, words: str, size: float, font: str) -> None:
        self.drawn[-1].append(f"BT /{font} {size:g} Tf {x:.1f} {y:.1f} Td {_string(words)} Tj ET")


def _file(sheets: Sequence[Sequence[str]], info: str) -> bytes:
    """Number the objects: catalogue, pages, two fonts, info, then page and content of each sheet."""
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(sheets)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(sheets)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        info.encode("latin-1", "replace"),
    ]
    for number, sheet in enumerate(sheets):
        packed = zlib.compress("\n".join(sheet).encode("cp1252", "replace"))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_PAGE_WIDTH:g} {_PAGE_HEIGHT:g}] "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents {7 + 2 * number} 0 R >>".encode()
        )
        head = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + packed + b"\nendstream")
    return assembled(objects, root=1, info=5)


def assembled(objects: Sequence[bytes], *, root: int, info: int | None = None) -> bytes:
    """The file: numbered objects, their offsets, and the trailer."""
    made = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, held in enumerate(objects, start=1):
        offsets.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, held)
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    about = b"/Info %d 0 R " % info if info else b""
    made += b"trailer\n<< /Size %d /Root %d 0 R %b>>\n" % (len(objects) + 1, root, about)
    return bytes(made + b"startxref\n%d\n%%%%EOF\n" % start)


def _info(title: str, author: str, created: datetime) -> str:
    moment = f"(D:{created:%Y%m%d%H%M%S}Z)"
    return f"<< /Title {_string(title)} /Author {_string(author)} /CreationDate {moment} /ModDate {moment} >>"


def _string(words: str) -> str:
    return "(" + words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") + ")"
