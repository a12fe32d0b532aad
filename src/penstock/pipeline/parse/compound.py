"""Reads compound files (OLE), the container format of MSG and old Office files."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LAST_SECTOR = 0xFFFFFFFA
"""Numbers from here on are special values, not sectors."""
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_MOST_ENTRIES = 100_000


class CompoundDamaged(ValueError):
    """The file is corrupt."""


class CompoundEntry(NamedTuple):
    """A folder (storage) or a file (stream) with its path."""

    path: tuple[str, ...]
    is_stream: bool
    start: int
    size: int


class CompoundFile:
    def __init__(self, data: bytes) -> None:
        if not data.startswith(_SIGNATURE) or len(data) < 512:
            raise CompoundDamaged("it is not a compound file")
        self._data = data
        (shift, mini_shift) = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or mini_shift != 6:
            raise CompoundDamaged("its sectors have an impossible size")
        self._sector, self._mini = 1 << shift, 1 << mini_shift
        (directory, _, self._cutoff, mini_fat, _, more, _) = struct.unpack_from("<7I", data, 48)
        self._fat = self._table(self._fat_sectors(more))
        self._mini_fat = self._table(self._chain(mini_fat, self._fat))
        self.entries = {entry.path: entry for entry in self._entries(self._read(directory))}
        root = self.entries.get(())
        self._mini_data = self._read(root.start)[: root.size] if root else b""

    def stream(self, *path: str) -> bytes | None:
        """The bytes of a stream, or None if there is none with that path."""
        entry = self.entries.get(path)
        if entry is None or not entry.is_stream:
            return None
        if entry.size >= self._cutoff:
            return self._read(entry.start)[: entry.size]
        parts = (
            self._mini_data[at * self._mini : (at + 1) * self._mini]
            for at in self._chain(entry.start, self._mini_fat)
        )
        return b"".join(parts)[: entry.size]

    def _fat_sectors(self, more: int) -> Iterator[int]:
        """The sectors of the allocation table: 109 are named in the header, the others in a chain."""
        listed = list(struct.unpack_from("<109I", self._data, 76))
        for _ in range(len(self._data) // self._sector + 1):
            yield from (at for at in listed if at < _LAST_SECTOR)
            if more >= _LAST_SECTOR:
                return
            numbers = struct.unpack(f"<{self._sector // 4}I", self._at(more))
            listed, more = list(numbers[:-1]), numbers[-1]
        raise CompoundDamaged("its allocation table has a cycle")

    def _table(self, sectors: Iterator[int]) -> list[int]:
        whole = b"".join(map(self._at, sectors))
        return list(struct.unpack(f"<{len(whole) // 4}I", whole))

    def _chain(self, start: int, table: list[int]) -> Iterator[int]:
        for _ in range(len(table) + 1):
            if start >= _LAST_SECTOR:
                return
            yield start
            if start >= len(table):
                raise CompoundDamaged("a chain points outside the file")
            start = table[start]
        raise CompoundDamaged("a chain has a cycle")

    def _read(self, start: int) -> bytes:
        return b"".join(map(self._at, self._chain(start, self._fat)))

    def _at(self, number: int) -> bytes:
        start = (number + 1) * self._sector
        part = self._data[start : start + self._sector]
        if not part:
            raise CompoundDamaged("it is truncated")
        return part.ljust(self._sector, b"\0")

    def _entries(self, directory: bytes) -> Iterator[CompoundEntry]:
        """Walk the directory, a binary tree of names in each storage."""
        count = len(directory) // 128
        waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
        seen: set[int] = set()
        while waiting:
            at, folder = waiting.pop()
            if at >= count:
                continue
            if at in seen or len(seen) > _MOST_ENTRIES:
                raise CompoundDamaged("its directory has a cycle")
            seen.add(at)
            raw = directory[at * 128 : (at + 1) * 128]
            length, kind = struct.unpack_from("<HB", raw, 64)
            left, right, child = struct.unpack_from("<III", raw, 68)
            start, size = struct.unpack_from("<IQ", raw, 116)
            if kind not in (_STORAGE, _STREAM, _ROOT):
                continue
            name = raw[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
            path = () if kind == _ROOT else (*folder, name)
            yield CompoundEntry(path, kind == _STREAM, start, size)
            waiting += [(left, folder), (right, folder)]
            if kind != _STREAM:
                waiting.append((child, path))
