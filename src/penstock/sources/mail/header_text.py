"""Headers of a mail from their bytes: unfolded lines, words in other character sets, parameters, dates."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import unquote_to_bytes

from penstock.sources.mail.charsets import decode
from penstock.sources.mail.fields import line

LONGEST_DATE: Final = 100
MOST_PIECES: Final = 50


def headers_in(block: bytes) -> Sequence[tuple[str, str]]:
    """Names in lower case and raw values, in their order; continued lines are one value."""
    found: list[tuple[str, list[str]]] = []
    for raw in block.splitlines():
        text = _lenient(raw)
        if text[:1] in (" ", "\t"):
            if found:
                found[-1][1].append(text.strip())
            continue
        name, separator, value = text.partition(":")
        if separator and name.strip():
            found.append((name.strip().lower(), [value.strip()]))
    return [(name, " ".join(pieces)) for name, pieces in found]


def plain(value: str) -> str:
    """A value with its encoded words decoded, on one line."""
    pieces = line(value).split("=?")
    done, after_word, at = [pieces[0]], False, 1
    while at < len(pieces):
        piece = pieces[at]
        charset, _, rest = piece.partition("?")
        kind, _, rest = rest.partition("?")
        text, end, rest = rest.partition("?=")
        at += 1
        if not end or kind.upper() not in ("B", "Q"):
            done.append("=?" + piece)
            after_word = False
            continue
        if after_word and not done[-1].strip():
            done.pop()  # the space between two encoded words is not part of the text
        done += [_word(charset.partition("*")[0], kind.upper(), text), rest]
        after_word = True
    return line("".join(done))


def parameter(parameters: Mapping[str, str], name: str) -> str:
    """A parameter of a MIME header: plain, with a character set, or in pieces (RFC 2231)."""
    if (whole := parameters.get(f"{name}*")) is not None:
        return _extended(whole)
    if f"{name}*0" in parameters or f"{name}*0*" in parameters:
        return _continued(parameters, name)
    return plain(parameters.get(name, ""))


def date_in(value: str | None) -> datetime | None:
    if value is None or not 0 < len(value) <= LONGEST_DATE:
        return None
    try:
        found = parsedate_to_datetime(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _continued(parameters: Mapping[str, str], name: str) -> str:
    charset, content = "utf-8", b""
    for number in range(MOST_PIECES):
        if (piece := parameters.get(f"{name}*{number}*")) is not None:
            if number == 0 and piece.count("'") >= 2:
                charset, _, piece = piece.split("'", 2)
            content += unquote_to_bytes(piece)
        elif (piece := parameters.get(f"{name}*{number}")) is not None:
            content += piece.encode("utf-8", "surrogateescape")
        else:
            break
    return line(decode(content, charset))


def _extended(value: str) -> str:
    charset, first, rest = value.partition("'")
    _, second, text = rest.partition("'")
    if not first or not second:
        return line(value)
    return line(decode(unquote_to_bytes(text), charset))


def _word(charset: str, kind: str, text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    if kind == "B":
        try:
            return decode(base64.b64decode(encoded + b"=" * (-len(encoded) % 4)), charset)
        except (binascii.Error, ValueError):
            return text
    return decode(binascii.a2b_qp(encoded, header=True), charset)


def _lenient(raw: bytes) -> str:
    """Raw bytes in headers are UTF-8 today and were Latin-1 before."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
