"""Contents of odd attachments: an image, a ZIP, a winmail.dat, an invitation, a large PDF."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from datetime import datetime, timedelta
from random import Random
from typing import Final

_TNEF: Final = 0x223E9F78
_ATTACH_RENDDATA, _ATTACH_TITLE, _ATTACH_DATA = 0x00069002, 0x00018010, 0x0006800F
_TNEF_VERSION, _MESSAGE_CLASS = 0x00089006, 0x00078008


def png(random: Random, width: int = 160, height: int = 48) -> bytes:
    """A logo: a few coloured stripes."""
    colours = [bytes(random.randrange(256) for _ in range(3)) for _ in range(4)]
    rows = b"".join(
        b"\0" + b"".join(colours[(x // 8 + y // 8) % 4] for x in range(width)) for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def zipped(files: dict[str, bytes]) -> bytes:
    """A ZIP that is the same each time."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
    return made.getvalue()


def winmail(filename: str, content: bytes) -> bytes:
    """A winmail.dat with one file in it."""
    title = filename.encode("latin-1", "replace") + b"\0"
    return (
        struct.pack("<IH", _TNEF, 1)
        + _attribute(1, _TNEF_VERSION, struct.pack("<I", 0x00010000))
        + _attribute(1, _MESSAGE_CLASS, b"IPM.Microsoft Mail.Note\0")
        + _attribute(2, _ATTACH_RENDDATA, struct.pack("<HIHHI", 1, 0xFFFFFFFF, 32, 32, 0))
        + _attribute(2, _ATTACH_TITLE, title)
        + _attribute(2, _ATTACH_DATA, content)
    )


def invitation(number: int, sender: str, to: str, at: datetime, title: str) -> bytes:
    """A calendar's request to a meeting."""
    begins = (at + timedelta(days=7)).replace(hour=9, minute=0, second=0, microsecond=0)
    lines = (
        "BEGIN:VCALENDAR",
        "PRODID:-//Simulator//EN",
        "VERSION:2.0",
        "METHOD:REQUEST",
        "BEGIN:VEVENT",
        f"UID:meeting-{number}@calendar.example",
        f"DTSTAMP:{at:%Y%m%dT%H%M%SZ}",
        f"DTSTART:{begins:%Y%m%dT%H%M%SZ}",
        f"DTEND:{begins + timedelta(hours=1):%Y%m%dT%H%M%SZ}",
        f"SUMMARY:{title}",
        f"ORGANIZER:mailto:{sender}",
        f"ATTENDEE;RSVP=TRUE:mailto:{to}",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    )
    return "\r\n".join(lines).encode()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _attribute(level: int, number: int, data: bytes) -> bytes:
    return struct.pack("<BII", level, number, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)
