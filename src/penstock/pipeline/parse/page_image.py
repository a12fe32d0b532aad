"""Runs in the sandbox: measures the pages of a PDF, and draws one as a PNG."""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pypdfium2  # type: ignore[import-untyped]  # it ships no types

from penstock.pipeline.parse.pdfium import opened
from penstock.pipeline.reasons import Reason, rejected
from penstock.sandbox import GivenFile

MOST_PAGES: Final = 5_000
MOST_PIXELS: Final = 2_000
"""The longer side of a drawn page."""
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


def measure_pages(document: GivenFile) -> list[tuple[float, float]]:
    """Width and height of each page in points; a page that cannot be read has neither."""
    with opened(Path(document.path)) as pdf:
        return [_size(pdf.document, index) for index in range(min(len(pdf.document), MOST_PAGES))]


def draw_page(document: GivenFile, image: GivenFile, number: int, width: int) -> bool:
    """Draw a page, from 1, as a PNG of this many pixels across; False if there is no such page."""
    with opened(Path(document.path)) as pdf:
        if not 1 <= number <= len(pdf.document):
            return False
        try:
            page = pdf.document[number - 1]
        except pypdfium2.PdfiumError as error:
            raise rejected(Reason.MALFORMED, f"page {number} is damaged") from error
        with contextlib.closing(page):
            across, down = page.get_size()
            scale = min(width / max(across, 1.0), MOST_PIXELS / max(across, down, 1.0))
            with contextlib.closing(page.render(scale=scale)) as drawn:
                rows = _rows(bytes(drawn.buffer), drawn.width, drawn.height, drawn.stride, drawn.n_channels)
                data = png(drawn.width, drawn.height, rows)
    left = memoryview(data)
    while left:
        left = left[os.write(image.descriptor, left) :]
    return True


def _size(document: pypdfium2.PdfDocument, index: int) -> tuple[float, float]:
    try:
        width, height = document.get_page_size(index)
    except pypdfium2.PdfiumError:
        return 0.0, 0.0
    return round(float(width), 2), round(float(height), 2)


def _rows(pixels: bytes, width: int, height: int, stride: int, channels: int) -> Iterator[bytes]:
    """The rows of a picture as red, green and blue; pdfium has blue first."""
    for start in range(0, stride * height, stride):
        line = pixels[start : start + width * channels]
        if channels == 1:
            yield bytes(value for grey in line for value in (grey, grey, grey))
            continue
        row = bytearray(3 * width)
        row[0::3], row[1::3], row[2::3] = line[2::channels], line[1::channels], line[0::channels]
        yield bytes(row)


def png(width: int, height: int, rows: Iterator[bytes]) -> bytes:
    """A PNG of 8-bit colours; every row is stored as it is, and the whole is compressed lightly."""
    packer = zlib.compressobj(level=6)
    packed = b"".join(packer.compress(b"\0" + row) for row in rows) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return _SIGNATURE + _part(b"IHDR", head) + _part(b"IDAT", packed) + _part(b"IEND", b"")


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
