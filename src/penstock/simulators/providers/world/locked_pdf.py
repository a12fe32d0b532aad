"""A PDF that opens only with a password: RC4 with 40 bits, which every reader knows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from penstock.simulators.providers.world.pdf import escaped, page_stream, pdf_file

_PADDING: Final = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_PERMISSIONS: Final = b"\xfc\xff\xff\xff"  # -4, as the file says


def make_locked_pdf(lines: Sequence[str], password: str) -> bytes:
    """The lines on one page, encrypted with the user's password."""
    file_id = hashlib.md5("\n".join(lines).encode(), usedforsecurity=False).digest()
    padded = (password.encode("latin-1") + _PADDING)[:32]
    owner_key = hashlib.md5(padded, usedforsecurity=False).digest()[:5]
    owner = _rc4(owner_key, padded)
    key = hashlib.md5(padded + owner + _PERMISSIONS + file_id, usedforsecurity=False).digest()[:5]
    user = _rc4(key, _PADDING)
    object_key = hashlib.md5(key + b"\x04\0\0\0\0", usedforsecurity=False).digest()[
        :10
    ]  # object 4, generation 0
    stream = _rc4(object_key, page_stream(lines))
    encrypt = b"<< /Filter /Standard /V 1 /R 2 /O (%s) /U (%s) /P -4 >>" % (escaped(owner), escaped(user))
    trailer = b" /Encrypt 6 0 R /ID [<%b> <%b>]" % ((file_id.hex().encode(),) * 2)
    return pdf_file(stream, (encrypt,), trailer)


def _rc4(key: bytes, content: bytes) -> bytes:
    state, at = list(range(256)), 0
    for index in range(256):
        at = (at + state[index] + key[index % len(key)]) % 256
        state[index], state[at] = state[at], state[index]
    made, first, second = bytearray(), 0, 0
    for byte in content:
        first = (first + 1) % 256
        second = (second + state[first]) % 256
        state[first], state[second] = state[second], state[first]
        made.append(byte ^ state[(state[first] + state[second]) % 256])
    return bytes(made)
