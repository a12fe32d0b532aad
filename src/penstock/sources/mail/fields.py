"""Fields of mails, cleaned: addresses, ids, headers, single lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from penstock.sources.mail.message import HEADERS, LONGEST_HEADER

MOST_ADDRESSES: Final = 500
_KEPT: Final = frozenset(HEADERS)


def line(value: Any) -> str:
    """A text on one line, at most as long as a header is kept."""
    return (
        " ".join(value[: 4 * LONGEST_HEADER].replace("\0", "").split())[:LONGEST_HEADER]
        if _text(value)
        else ""
    )


def lines(value: Any) -> Sequence[Any]:
    return value[:MOST_ADDRESSES] if isinstance(value, list) else ()


def bare_id(value: Any) -> str | None:
    """A Message-ID or Content-ID without its angle brackets."""
    return line(value).strip("<> ") or None


def address_of(value: Any) -> str:
    """The address in `Name <address>`, in lower case."""
    return split_address(value)[0]


def split_address(value: Any) -> tuple[str, str]:
    """Address and name of one person, without the parsing of comments and groups, which is not linear."""
    text = line(value)
    name, opened, rest = text.rpartition("<")
    if not opened:
        return text.strip("<> ").lower(), ""
    return rest.partition(">")[0].strip().lower(), name.strip().strip('"').strip()


def split_addresses(value: Any) -> tuple[str, ...]:
    """The addresses of a header; commas inside quotes do not separate."""
    found: list[str] = []
    piece, is_quoted = "", False
    for character in line(value) + ",":
        if character == '"':
            is_quoted = not is_quoted
        if character in ",;" and not is_quoted:
            if address := address_of(piece):
                found.append(address)
            piece = ""
        else:
            piece += character
    return tuple(found[:MOST_ADDRESSES])


def header_fields(given: Any) -> Mapping[str, str]:
    """The headers that rules look at; of several with one name, the first."""
    found: dict[str, str] = {}
    for name, value in _pairs(given):
        if name in _KEPT and name not in found:
            found[name] = line(value)
    return found


def _pairs(given: Any) -> Iterable[tuple[str, Any]]:
    for each in given if isinstance(given, list) else ():
        if isinstance(each, Mapping):
            yield str(each.get("name", "")).lower(), each.get("value")


def _text(value: Any) -> bool:
    return isinstance(value, str)
