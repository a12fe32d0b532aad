"""Writes compound files, the container of MSG, for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTOR, _MINI, _CUTOFF = 512, 64, 4_096
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound(streams: Mapping[tuple[str, ...], bytes]) -> bytes:
    """A file with the given streams; folders are made for their paths."""
    # In a folder the shorter name comes first; readers that check the order refuse any other.
    paths = sorted(
        {path[:length] for path in streams for length in range(1, len(path) + 1)},
        key=lambda path: (path[:-1], len(path[-1]), path[-1].upper()),
    )
    mini = {path: data for path, data in streams.items() if len(data) < _CUTOFF}
    mini_data = b""
    mini_fat: list[int] = []
    starts: dict[tuple[str, ...], int] = {}
    for path, data in mini.items():
        starts[path], count = (len(mini_fat), -(-len(data) // _MINI)) if data else (_END, 0)
        mini_fat += [*range(len(mini_fat) + 1, len(mini_fat) + count), _END] if count else []
        mini_data += data.ljust(count * _MINI, b"\0")
    fat: list[int] = []
    body = b""

    def put(data: bytes) -> int:
        nonlocal body
        if not data:
            return _END
        count, first = -(-len(data) // _SECTOR), len(fat)
        fat.extend([*range(first + 1, first + count), _END])
        body += data.ljust(count * _SECTOR, b"\0")
        return first

    for path, data in streams.items():
        if path not in mini:
            starts[path] = put(data)
    root = put(mini_data)
    mini_start = put(struct.pack(f"<{len(mini_fat)}I", *mini_fat))
    entries = [_entry("Root Entry", 5, _FREE, _child(paths, ()), root, len(mini_data))]
    for path in paths:
        siblings = [one for one in paths if one[:-1] == path[:-1]]
        later = siblings[siblings.index(path) + 1 :]
        following = paths.index(later[0]) + 1 if later else _FREE
        if path in streams:
            entries.append(_entry(path[-1], 2, following, _FREE, starts[path], len(streams[path])))
        else:
            entries.append(_entry(path[-1], 1, following, _child(paths, path), 0, 0))
    directory = put(b"".join(entries))
    # The table describes itself too: add its sectors until they fit.
    fat_count = 1
    while (len(fat) + fat_count) * 4 > fat_count * _SECTOR:
        fat_count += 1
    first_fat = len(fat)
    fat += [_FAT] * fat_count
    fat += [_FREE] * (fat_count * _SECTOR // 4 - len(fat))
    table = struct.pack(f"<{len(fat)}I", *fat)
    difat = [*range(first_fat, first_fat + fat_count)]
    header = struct.pack(
        "<8s16xHHHHH6xII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 62, 3, 0xFFFE, 9, 6, 0, fat_count
    )
    header += struct.pack(
        "<IIIIIII", directory, 0, _CUTOFF, mini_start, -(-len(mini_fat) * 4 // _SECTOR), _END, 0
    )
    header += struct.pack("<109I", *difat, *[_FREE] * (109 - len(difat)))
    return header + body + table


def _child(paths: list[tuple[str, ...]], folder: tuple[str, ...]) -> int:
    return next((at for at, path in enumerate(paths, start=1) if path[:-1] == folder), _FREE)


def _entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    wide = name.encode("utf-16-le")
    return (
        wide.ljust(64, b"\0")
        + struct.pack("<HBBIII", len(wide) + 2, kind, 1, _FREE, right, child)
        + bytes(36)
        + struct.pack("<IQ", start, size)
    )


def msg(
    subject: str,
    body: str,
    *,
    attachments: Mapping[str, bytes] | None = None,
    ticks: int = 133_801_632_000_000_000,
) -> bytes:
    """A message from Anna to Ben as Outlook writes it, sent at the start of 2025 unless told otherwise."""
    sent = struct.pack("<HHIQ", 0x0040, 0x0039, 6, ticks)
    streams: dict[tuple[str, ...], bytes] = {
        ("__properties_version1.0",): bytes(32) + sent,
        ("__nameid_version1.0", "__substg1.0_00020102"): b"",
    }
    texts = {
        "0037": subject,
        "1000": body,
        "0C1A": "Anna Ash",
        "5D01": "anna@example.com",
        "0E04": "Ben Birch",
    }
    streams |= {
        (f"__substg1.0_{number}001F",): text.encode("utf-16-le") for number, text in texts.items() if text
    }
    for number, (name, content) in enumerate((attachments or {}).items()):
        folder = f"__attach_version1.0_#{number:08X}"
        streams[folder, "__substg1.0_3707001F"] = name.encode("utf-16-le")
        streams[folder, "__substg1.0_37010102"] = content
        streams[folder, "__properties_version1.0"] = bytes(8)
    return compound(streams)
