"""Decodes the content of a part piece by piece, as it arrives."""

from __future__ import annotations

import binascii
from typing import Final, Protocol

_BASE64: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_OTHER: Final = bytes(set(range(256)) - set(_BASE64))


class Decoder(Protocol):
    """`add` returns what can be told so far, `end` the rest."""

    def add(self, piece: bytes) -> bytes: ...
    def end(self) -> bytes: ...


def decoder_of(encoding: str) -> Decoder:
    """By Content-Transfer-Encoding; what is unknown stays as it is."""
    match encoding:
        case "base64":
            return Base64()
        case "quoted-printable":
            return QuotedPrintable()
        case _:
            return Unchanged()


def decoded(content: bytes, encoding: str) -> bytes:
    decoder = decoder_of(encoding)
    return decoder.add(content) + decoder.end()


class Unchanged:
    def add(self, piece: bytes) -> bytes:
        return piece

    def end(self) -> bytes:
        return b""


class Base64:
    """Everything but the alphabet is ignored, as MIME says; padding ends a run of four."""

    def __init__(self) -> None:
        self._held = b""

    def add(self, piece: bytes) -> bytes:
        whole = self._held + piece.translate(None, _OTHER)
        ready = len(whole) // 4 * 4
        self._held = whole[ready:]
        return binascii.a2b_base64(whole[:ready])

    def end(self) -> bytes:
        held, self._held = self._held, b""
        # One character alone stands for no byte.
        return binascii.a2b_base64(held + b"=" * (4 - len(held))) if len(held) > 1 else b""


class QuotedPrintable:
    """Whole lines are decoded: a line may end with `=` and go on in the next piece."""

    LONGEST: Final = 65_536

    def __init__(self) -> None:
        self._held = b""

    def add(self, piece: bytes) -> bytes:
        whole = self._held + piece
        cut = whole.rfind(b"\n") + 1
        if cut == 0 and len(whole) > self.LONGEST:
            # No line is so long; only an escape must not be cut.
            cut = len(whole) - 3
        self._held = whole[cut:]
        return binascii.a2b_qp(whole[:cut])

    def end(self) -> bytes:
        held, self._held = self._held, b""
        return binascii.a2b_qp(held)
