"""Splits the stream of a PPT file into records, and finds the current version of its parts."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from penstock.pipeline.reasons import Reason, rejected

_PROTECTED = 0xF3D1C4DF
_EDIT, _DIRECTORY = 4085, 6002
_MOST_EDITS = 10_000


class PptRecord(NamedTuple):
    kind: int
    instance: int
    is_container: bool
    data: memoryview


def records(data: memoryview) -> Iterator[PptRecord]:
    """The records in a row; one that is longer than the data is cut."""
    at = 0
    while at + 8 <= len(data):
        version, kind, size = struct.unpack_from("<HHI", data, at)
        yield PptRecord(kind, version >> 4, version & 0xF == 0xF, data[at + 8 : at + 8 + size])
        at += 8 + size


def current_parts(stream: bytes, user: bytes) -> dict[int, PptRecord]:
    """The parts by number. A file keeps old versions: the last edit says where the newest are."""
    if len(user) < 20:
        raise rejected(Reason.MALFORMED, "the file does not say which version is the last")
    token, edit = struct.unpack_from("<II", user, 12)
    if token == _PROTECTED:
        raise rejected(Reason.ENCRYPTED, "the office file is protected by a password")
    places: dict[int, int] = {}
    seen: set[int] = set()
    while edit not in seen and len(seen) < _MOST_EDITS:
        seen.add(edit)
        record = _at(stream, edit)
        if record is None or record.kind != _EDIT or len(record.data) < 16:
            raise rejected(Reason.TRUNCATED, "the record of the last edit is missing")
        edit, directory = struct.unpack_from("<II", record.data, 8)
        for number, place in _directory(stream, directory):
            places.setdefault(number, place)
        if not edit:
            break
    found = {number: _at(stream, place) for number, place in places.items()}
    return {number: record for number, record in found.items() if record is not None}


def _at(stream: bytes, place: int) -> PptRecord | None:
    return next(records(memoryview(stream)[place:]), None) if place < len(stream) else None


def _directory(stream: bytes, place: int) -> Iterator[tuple[int, int]]:
    record = _at(stream, place)
    if record is None or record.kind != _DIRECTORY:
        raise rejected(Reason.TRUNCATED, "the list of the file's parts is missing")
    numbers = [one for (one,) in struct.iter_unpack("<I", record.data[: len(record.data) & ~3])]
    at = 0
    while at < len(numbers):
        first, count = numbers[at] & 0xFFFFF, numbers[at] >> 20
        yield from enumerate(numbers[at + 1 : at + 1 + count], start=first)
        at += 1 + count
