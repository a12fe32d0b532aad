"""Text as the index can keep it: no NULs or other controls, one kind of line end, no broken characters."""

from __future__ import annotations

import re
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
_TABLE: dict[int, str | None] = dict.fromkeys(_DROPPED) | {ord(key): kept for key, kept in _KEPT.items()}
_TRAILING = re.compile(r"(?<![ \t])[ \t]++$", re.M)
_GAPS = re.compile(r"\n{3,}")
_NO_TITLE = re.compile(r"\W*(untitled|unspecified|anonymous|unknown|none|document\d*|slide \d+)?\W*", re.I)
_MADE_BY = re.compile(r"^Microsoft (Word|PowerPoint|Excel) - ", re.I)


def cleaned(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)
    text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates
    return _GAPS.sub("\n\n", _TRAILING.sub("", text)).strip("\n")


def cleaned_line(value: str | None, limit: int = 500) -> str | None:
    """A value of metadata: one line, cut, and None for what programs write when they know nothing."""
    line = " ".join(cleaned(_MADE_BY.sub("", value or "")).split())[:limit]
    return None if _NO_TITLE.fullmatch(line) else line


def moment(value: str | None) -> datetime | None:
    """A date as ISO, as mail writes it, or as PDF writes it; without a zone it is taken as UTC."""
    for read in (datetime.fromisoformat, parsedate_to_datetime, _pdf_moment):
        try:
            found = read((value or "").strip())
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _pdf_moment(value: str) -> datetime:
    digits = value.removeprefix("D:")[:14].partition("+")[0].partition("Z")[0].partition("-")[0]
    # A PDF may leave out everything behind the year.
    return datetime.strptime(digits + "00000101000000"[len(digits) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
