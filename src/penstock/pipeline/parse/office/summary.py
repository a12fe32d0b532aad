"""Reads what an old Office file says of itself: title, author, dates."""

from __future__ import annotations

import codecs
import struct
from datetime import UTC, datetime, timedelta

from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.compound import CompoundDamaged, CompoundFile
from penstock.pipeline.parse.result import FileMetadata, described

_CODE_PAGE, _TITLE, _SUBJECT, _AUTHOR, _KEYWORDS, _CREATED, _SAVED = 1, 2, 3, 4, 5, 12, 13
_SHORT, _NARROW, _WIDE, _TIME = 2, 30, 31, 64
_MOST = 1_000

Value = str | int | datetime


def summary(file: CompoundFile) -> FileMetadata:
    """A damaged summary is as good as none."""
    try:
        found = _properties(file.stream("\x05SummaryInformation") or b"")
    except (struct.error, CompoundDamaged):
        found = {}

    def text(number: int) -> str | None:
        value = found.get(number)
        return value if isinstance(value, str) else None

    def when(number: int) -> datetime | None:
        value = found.get(number)
        return value if isinstance(value, datetime) else None

    return FileMetadata(
        title=cleaned_line(text(_TITLE)),
        author=cleaned_line(text(_AUTHOR)),
        created_at=when(_CREATED),
        modified_at=when(_SAVED),
        metadata=described(subject=text(_SUBJECT), keywords=text(_KEYWORDS)),
    )


def _properties(data: bytes) -> dict[int, Value]:
    if len(data) < 48:
        return {}
    (start,) = struct.unpack_from("<I", data, 44)
    (count,) = struct.unpack_from("<I", data, start + 4)
    places = dict(struct.unpack_from("<II", data, start + 8 + 8 * at) for at in range(min(count, _MOST)))
    page = places.get(_CODE_PAGE)
    encoding = _encoding(struct.unpack_from("<H", data, start + page + 4)[0] if page is not None else 1252)
    found = {}
    for number, offset in places.items():
        value = _value(data, start + offset, encoding)
        if value is not None:
            found[number] = value
    return found


def _value(data: bytes, at: int, encoding: str) -> Value | None:
    kind, length = struct.unpack_from("<II", data, at)
    if kind == _NARROW:
        return data[at + 8 : at + 8 + length].decode(encoding, "replace").rstrip("\0")
    if kind == _WIDE:
        return data[at + 8 : at + 8 + 2 * length].decode("utf-16-le", "replace").rstrip("\0")
    if kind == _TIME:
        (ticks,) = struct.unpack_from("<Q", data, at + 4)
        try:
            return datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None
    return None


def _encoding(page: int) -> str:
    name = {65_001: "utf-8", 1_200: "utf-16-le", 10_000: "mac_roman"}.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
