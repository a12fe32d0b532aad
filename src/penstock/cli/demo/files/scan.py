"""Writes what a scanner would: pages as images, without text."""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import pypdfium2  # type: ignore[import-untyped]  # it ships no types

from penstock.cli.demo.files.content import Piece
from penstock.cli.demo.files.pdf_maker import assembled, pdf

DOTS_PER_INCH = 200


class _Picture(NamedTuple):
    width: int
    height: int
    rows: bytes
    """One byte per pixel, without padding."""


def scan_png(pieces: Sequence[Piece]) -> bytes:
    """The first page of the pieces as a grey PNG."""
    picture = _pictures([pieces])[0]
    lines = (
        b"\0" + picture.rows[at : at + picture.width]
        for at in range(0, picture.width * picture.height, picture.width)
    )
    head = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 0, 0, 0, 0)
    packed = zlib.compress(b"".join(lines))
    return b"\x89PNG\r\n\x1a\n" + _part(b"IHDR", head) + _part(b"IDAT", packed) + _part(b"IEND", b"")


def scan_pdf(pages: Sequence[Sequence[Piece]]) -> bytes:
    """A PDF of images, one per page."""
    pictures = _pictures(pages)
    kids = " ".join(f"{3 + 3 * number} 0 R" for number in range(len(pictures)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pictures)} >>".encode(),
    ]
    for number, picture in enumerate(pictures):
        wide, high = picture.width * 72 / DOTS_PER_INCH, picture.height * 72 / DOTS_PER_INCH
        drawn = f"{wide:.2f} 0 0 {high:.2f} 0 0 cm /P Do".encode()
        packed = zlib.compress(picture.rows)
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {wide:.2f} {high:.2f}] /Resources << /XObject "
            f"<< /P {5 + 3 * number} 0 R >> >> /Contents {4 + 3 * number} 0 R >>".encode(),
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn),
            f"<< /Type /XObject /Subtype /Image /Width {picture.width} /Height {picture.height} "
            "/ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode "
            f"/Length {len(packed)} >>\nstream\n".encode()
            + packed
            + b"\nendstream",
        ]
    return assembled(objects, root=1)


def _pictures(pages: Sequence[Sequence[Piece]]) -> list[_Picture]:
    with contextlib.closing(pypdfium2.PdfDocument(pdf("", pages))) as document:
        return [_picture(document[index]) for index in range(len(document))]


def _picture(page: pypdfium2.PdfPage) -> _Picture:
    with (
        contextlib.closing(page),
        contextlib.closing(page.render(scale=DOTS_PER_INCH / 72, grayscale=True)) as drawn,
    ):
        held, stride = bytes(drawn.buffer), drawn.stride
        rows = b"".join(held[at : at + drawn.width] for at in range(0, stride * drawn.height, stride))
        return _Picture(drawn.width, drawn.height, rows)


def _part(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
