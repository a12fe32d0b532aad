"""Cleans text for the index: no NULs or other controls, one kind of line end, no broken characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DROPPED = [*range(32), *range(127, 160), 0x00AD, 0x200B, 0xFEFF, 0xFFFE, 0xFFFF]
_KEPT = {
    "\n": "\n",
    "\t": "\t",
    "\f": "\n\n",
    "\x85": "\n",
    "\xa0": " ",
    "\u202f": " ",
    "\u2028": "\n",
    "\u2029": "\n\n",
}
_UNCHANGED = "\n\t"
_TABLE: dict[int, str | None] = dict.fromkeys(_DROPPED) | {ord(key): kept for key, kept in _KEPT.items()}
_CHANGED = re.compile(f"[{re.escape(''.join(chr(key) for key in _TABLE if chr(key) not in _UNCHANGED))}]")
_TRAILING = re.compile(r"(?<![ \t])[ \t]++$", re.M)
_GAPS = re.compile(r"\n{3,}")
_NO_TITLE = re.compile(r"\W*(untitled|unspecified|anonymous|unknown|none|document\d*|slide \d+)?\W*", re.I)
_MADE_BY = re.compile(r"^Microsoft (Word|PowerPoint|Excel) - ", re.I)


def cleaned(text: str) -> str:
    if text.isascii() and text.isprintable() and text[-1:] != " ":
        return text  # a line of ASCII
    return _cleaned(text).strip("\n")


def _cleaned(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        text = text.translate(_TABLE)
    else:  # translating takes long then, since it looks up each character
        text = _CHANGED.sub(_kept, text)
        text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        text = _TRAILING.sub("", text)
    return _GAPS.sub("\n\n", text) if "\n\n\n" in text else text


def _kept(found: re.Match[str]) -> str:
    return _KEPT.get(found[0], "")


def cleaned_pieces(pieces: Iterable[str]) -> Iterator[str]:
    """`cleaned` for a text in pieces; the joined result is the same."""
    held: list[str] = []
    first = True
    for piece in pieces:
        at = _last_cut(piece)
        if not at:
            held.append(piece)
            continue
        text = _cleaned("".join((*held, piece[:at])))
        yield text.lstrip("\n") if first else text
        held, first = [piece[at:]], False
    text = _cleaned("".join(held)).rstrip("\n")
    if text:
        yield text.lstrip("\n") if first else text


def _last_cut(piece: str) -> int:
    """The last position between two characters that cleaning does not change: a safe place to cut."""
    at = len(piece) - 1
    while at > 0:
        if not _stays(piece[at]):
            at -= 1
        elif not _stays(piece[at - 1]):
            at -= 2
        else:
            return at
    return 0


def _stays(character: str) -> bool:
    return not character.isspace() and ord(character) not in _TABLE


def cleaned_line(value: str | None, limit: int = 500) -> str | None:
    """A metadata value: one line, truncated; None for placeholders that programs write."""
    line = " ".join(cleaned(_MADE_BY.sub("", value or "")).split())[:limit]
    return None if _NO_TITLE.fullmatch(line) else line


def moment(value: str | None) -> datetime | None:
    """A date in ISO, mail or PDF format; without a zone, UTC is assumed."""
    for read in (datetime.fromisoformat, parsedate_to_datetime, _pdf_moment):
        try:
            found = read((value or "").strip())
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _pdf_moment(value: str) -> datetime:
    digits = value.removeprefix("D:")[:14].partition("+")[0].partition("Z")[0].partition("-")[0]
    # A PDF may omit everything after the year.
    return datetime.strptime(digits + "00000101000000"[len(digits) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
