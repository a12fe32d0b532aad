"""Takes TNEF streams (winmail.dat) apart: attributes and MAPI properties, with limits on each."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

SIGNATURE: Final = b"\x78\x9f\x3e\x22"
MOST_ATTRIBUTES: Final = 20_000
MOST_PROPERTIES: Final = 5_000
MOST_VALUES: Final = 5_000

# Attributes, by their number without the type.
SUBJECT, BODY, SENT, MESSAGE_ID = 0x8004, 0x800C, 0x8005, 0x8009
NAME, DATA, NEW_ATTACHMENT, ATTACHMENT_PROPERTIES, PROPERTIES = 0x8010, 0x800F, 0x9002, 0x9005, 0x9003
CODE_PAGE: Final = 0x9007
_ATTACHMENT_LEVEL: Final = 2
_FIXED: Final = {
    0x0000: 0, 0x0001: 0, 0x0002: 4, 0x0003: 4, 0x0004: 4, 0x0005: 8, 0x0006: 8, 0x0007: 8, 0x000A: 4,
    0x000B: 4, 0x0014: 8, 0x0040: 8, 0x0048: 16,
}  # fmt: skip
"""The lengths of values by their type; those of two bytes are padded to four."""
_VARIABLE: Final = frozenset({0x000D, 0x001E, 0x001F, 0x0102})
_MANY: Final = 0x1000
_UNICODE: Final = 0x001F
_TEXT: Final = 0x001E


class TnefDamaged(ValueError):
    """The stream ends early, or says something that cannot be."""


@dataclass(slots=True)
class Level:
    """The message, or one attachment: its attributes and properties, each by its number."""

    attributes: dict[int, bytes] = field(default_factory=dict)
    properties: dict[int, tuple[int, bytes]] = field(default_factory=dict)

    def text(self, number: int, code_page: str) -> str | None:
        """A property as text, if it is one."""
        kind, value = self.properties.get(number, (0, b""))
        if kind == _UNICODE:
            return value.decode("utf-16-le", "replace").rstrip("\0") or None
        if kind == _TEXT:
            return value.decode(code_page, "replace").rstrip("\0") or None
        return None

    def attribute(self, number: int, code_page: str) -> str | None:
        return self.attributes.get(number, b"").decode(code_page, "replace").rstrip("\0") or None


@dataclass(slots=True)
class Tnef:
    message: Level
    attachments: list[Level]
    code_page: str


def read_tnef(data: bytes) -> Tnef:
    if data[:4] != SIGNATURE:
        raise TnefDamaged("it does not begin as such a file does")
    found = Tnef(Level(), [], "cp1252")
    for level, number, value in _attributes(data):
        if number == CODE_PAGE and len(value) >= 4:
            found.code_page = _code_page(struct.unpack_from("<I", value)[0])
        if level != _ATTACHMENT_LEVEL:
            _put(found.message, number, value, PROPERTIES)
            continue
        if number == NEW_ATTACHMENT or not found.attachments:
            found.attachments.append(Level())
        _put(found.attachments[-1], number, value, ATTACHMENT_PROPERTIES)
    return found


def _put(level: Level, number: int, value: bytes, properties: int) -> None:
    if number == properties:
        level.properties.update(_properties(value))
    else:
        level.attributes[number] = value


def _attributes(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Level, number and value of each; a checksum of two bytes follows each value."""
    at = 6
    for _ in range(MOST_ATTRIBUTES):
        if at >= len(data):
            return
        level, tag, length = struct.unpack_from("<BII", _whole(data, at, 9), 0)
        at += 9
        yield level, tag & 0xFFFF, _whole(data, at, length)
        at += length + 2
    raise TnefDamaged(f"it has more than {MOST_ATTRIBUTES:,} attributes")


def _properties(data: bytes) -> dict[int, tuple[int, bytes]]:
    """Type and value by number; of several values the first. Named properties are passed over."""
    (count,) = struct.unpack("<I", _whole(data, 0, 4))
    if count > MOST_PROPERTIES:
        raise TnefDamaged(f"it has more than {MOST_PROPERTIES:,} properties")
    at, found = 4, {}
    for _ in range(count):
        kind, number = struct.unpack("<HH", _whole(data, at, 4))
        at += 4
        if number >= 0x8000:
            at = _past_name(data, at)
        value, at = _value(data, at, kind)
        found[number] = (kind & ~_MANY, value)
    return found


def _past_name(data: bytes, at: int) -> int:
    (kind,) = struct.unpack("<I", _whole(data, at + 16, 4))
    if kind == 0:
        return at + 24
    (length,) = struct.unpack("<I", _whole(data, at + 20, 4))
    return at + 24 + _padded(length)


def _value(data: bytes, at: int, kind: int) -> tuple[bytes, int]:
    single = kind & ~_MANY
    is_variable = single in _VARIABLE
    if not is_variable and single not in _FIXED:
        raise TnefDamaged(f"a property has the unknown type {kind:#06x}")
    count = 1
    if is_variable or kind & _MANY:
        (count,) = struct.unpack("<I", _whole(data, at, 4))
        at += 4
    if count > MOST_VALUES:
        raise TnefDamaged(f"a property has more than {MOST_VALUES:,} values")
    first = b""
    for number in range(count):
        if is_variable:
            (length,) = struct.unpack("<I", _whole(data, at, 4))
            at += 4
        else:
            length = _FIXED[single]
        value = _whole(data, at, length)
        at += _padded(length)
        first = value if number == 0 else first
    return first, at


def _whole(data: bytes, at: int, length: int) -> bytes:
    if length < 0 or at + length > len(data):
        raise TnefDamaged("it ends too early")
    return data[at : at + length]


def _padded(length: int) -> int:
    return length + (-length % 4)


def _code_page(number: int) -> str:
    name = "utf-8" if number == 65_001 else f"cp{number}"
    try:
        "".encode(name)
    except LookupError:
        return "cp1252"
    return name
