"""Rejects decompression bombs before anything unpacks them."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

from penstock.pipeline.reasons import Reason, rejected

MOST_ENTRIES = 10_000
MOST_UNPACKED = 1 << 30
FREE_UNPACKED = 64 << 20
"""Smaller archives may have any compression ratio: empty sheets compress well."""
MOST_RATIO = 150
MOST_PIXELS = 120_000_000

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END_OF_ZIP = b"PK\x05\x06"


def check_office(path: Path) -> None:
    """Check that an Office file is a complete zip archive, not a bomb and not protected."""
    with path.open("rb") as file:
        if file.read(8) == _OLE:
            raise rejected(Reason.ENCRYPTED, "the office file is protected by a password")
    check_archive(path, "office file")


def check_archive(path: Path, what: str, most: int = MOST_ENTRIES) -> None:
    """Check that a zip archive is complete, not a bomb and not protected; `what` names it in errors."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_557))
        whole = _END_OF_ZIP in file.read()
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        reason = Reason.MALFORMED if whole else Reason.TRUNCATED
        raise rejected(reason, f"the {what} is not a complete zip archive: {error}") from error
    if len(entries) > most:
        raise rejected(Reason.BOMB, f"the archive has {len(entries):,} entries, more than {most:,}")
    unpacked = sum(entry.file_size for entry in entries)
    packed = max(1, sum(entry.compress_size for entry in entries))
    if unpacked > MOST_UNPACKED:
        raise rejected(Reason.BOMB, f"it unpacks to {unpacked >> 20:,} MB, more than {MOST_UNPACKED >> 20:,}")
    if unpacked > FREE_UNPACKED and unpacked / packed > MOST_RATIO:
        raise rejected(Reason.BOMB, f"it unpacks to {unpacked // packed:,} times its size")
    if any(entry.flag_bits & 1 for entry in entries):
        raise rejected(Reason.ENCRYPTED, f"the {what} is protected by a password")


def check_picture(path: Path) -> None:
    """Check that a picture's size in pixels, from its header, fits into memory."""
    with path.open("rb") as file:
        width, height = _size(file.read(1 << 18))
    if width * height > MOST_PIXELS:
        raise rejected(
            Reason.BOMB, f"the picture has {width:,} x {height:,} pixels, more than {MOST_PIXELS:,}"
        )


def _size(head: bytes) -> tuple[int, int]:
    """Width and height; zero if the header does not say, which leaves it to the memory limit."""
    try:
        if head.startswith(b"\x89PNG"):
            return struct.unpack_from(">II", head, 16)
        if head.startswith(b"GIF8"):
            return struct.unpack_from("<HH", head, 6)
        if head.startswith(b"BM"):
            width, height = struct.unpack_from("<ii", head, 18)
            return width, abs(height)
        if head[8:12] == b"WEBP":
            return _webp_size(head)
        if head[:2] in (b"II", b"MM"):
            return _tiff_size(head)
        return _jpeg_size(head)
    except (struct.error, IndexError):
        return 0, 0


def _webp_size(head: bytes) -> tuple[int, int]:
    if head[12:16] == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", head, 26)
    return width & 0x3FFF, height & 0x3FFF


def _tiff_size(head: bytes) -> tuple[int, int]:
    order = "<" if head.startswith(b"II") else ">"
    (start,) = struct.unpack_from(order + "I", head, 4)
    (count,) = struct.unpack_from(order + "H", head, start)
    sizes = {256: 0, 257: 0}
    for at in range(start + 2, start + 2 + 12 * min(count, 200), 12):
        tag, kind = struct.unpack_from(order + "HH", head, at)
        if tag in sizes:
            (sizes[tag],) = struct.unpack_from(order + ("H" if kind == 3 else "I"), head, at + 8)
    return sizes[256], sizes[257]


def _jpeg_size(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        at += 2 + struct.unpack_from(">H", head, at + 2)[0]
    return 0, 0
