"""Shows the number in a cell of a spreadsheet as its format says: dates, times and percentages.

Other numbers are shown as they are: their separators depend on the reader's country, which no file says.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_ISO_DATE, _ISO_TIME = "yyyy-mm-dd", "hh:mm:ss"
BUILT_IN = {
    9: "0%",
    10: "0.00%",
    14: _ISO_DATE,
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: f"{_ISO_DATE} h:mm",
    45: "mm:ss",
    46: "[h]:mm:ss",
    **dict.fromkeys(range(27, 32), _ISO_DATE),
    **dict.fromkeys((32, 33, 34, 35, 47, 55, 56), _ISO_TIME),
    **dict.fromkeys((36, 50, 51, 52, 53, 54, 57, 58), _ISO_DATE),
}
"""14 and others follow the reader's country: they are shown in the form that no country misreads."""
_QUOTED = re.compile(r'"[^"]*+"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*+\]', re.I)
_DATE = re.compile(r"[ymdhs]", re.I)
_TOKEN = re.compile(
    r'"([^"]*+)"|\\(.)|[_*].|\[(h+|m+|s+)\]|\[[^\]]*+\]|(am/pm|a/p)|(y+|m+|d+|h+|s+)(?:\.(0+))?|(.)',
    re.I | re.S,
)
_DECIMALS = re.compile(r"\.([0#?]+)[^%]*%")
_LONGEST_FORMAT = 255
_DAYS = 3_000_000


def shown(value: float, code: str, *, from_1904: bool = False) -> str:
    """The number as a person sees it."""
    section = code[:_LONGEST_FORMAT].partition(";")[0]
    bare = _QUOTED.sub("", section)
    if bare.lower() != "general" and _DATE.search(bare) and 0 <= value < _DAYS:
        return _moment(value, section, from_1904)
    if "%" in bare:
        decimals = _DECIMALS.search(bare)
        return f"{value * 100:.{len(decimals[1]) if decimals else 0}f}%"
    return plain(value)


def plain(value: float) -> str:
    """A number with up to 15 digits, as spreadsheets keep it."""
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    return f"{value:.15g}"


def _moment(value: float, code: str, from_1904: bool) -> str:
    seconds = round(value * 86_400, 3)
    # A day too many in 1900 is a bug that every spreadsheet keeps.
    first = (1904, 1, 1) if from_1904 else (1899, 12, 31 if value < 60 else 30)
    start = datetime(*first, tzinfo=UTC)
    when = start + timedelta(seconds=seconds if "." in code else round(seconds))
    tokens = list(_TOKEN.finditer(code))
    in_halves = any(token[4] for token in tokens)
    return "".join(_part(tokens, at, when, value, in_halves) for at in range(len(tokens))).strip()


def _part(tokens: list[re.Match[str]], at: int, when: datetime, value: float, in_halves: bool) -> str:
    quoted, escaped, elapsed, half, letters, fraction, other = tokens[at].groups()
    if elapsed:
        total = round(value * 86_400)
        count = {"h": total // 3_600, "m": total // 60, "s": total}[elapsed[0].lower()]
        return f"{count:0{len(elapsed)}}"
    if half:
        return ("AM" if when.hour < 12 else "PM")[: 2 if len(half) > 3 else 1]
    if letters:
        said = _letters(letters.lower(), _is_minute(tokens, at), when, in_halves)
        return f"{said}.{when.microsecond // 1_000:03}"[: len(said) + 1 + len(fraction)] if fraction else said
    return quoted or escaped or other or ""


def _letters(letters: str, is_minute: bool, when: datetime, in_halves: bool) -> str:
    kind, count = letters[0], len(letters)
    if kind == "y":
        return f"{when.year:04}" if count > 2 else f"{when.year % 100:02}"
    if kind == "m" and not is_minute:
        named = {3: when.strftime("%b"), 4: when.strftime("%B"), 5: when.strftime("%b")[0]}
        return named.get(count) or f"{when.month:0{min(count, 2)}}"
    if kind == "d":
        named = {3: when.strftime("%a"), 4: when.strftime("%A")}
        return named.get(count) or f"{when.day:0{min(count, 2)}}"
    hour = (when.hour % 12 or 12) if in_halves else when.hour
    number = {"h": hour, "m": when.minute, "s": when.second}[kind]
    return f"{number:0{min(count, 2)}}"


def _is_minute(tokens: list[re.Match[str]], at: int) -> bool:
    """An m after hours or before seconds."""
    before = next((token for token in reversed(tokens[:at]) if token[5] or token[3]), None)
    after = next((token for token in tokens[at + 1 :] if token[5] or token[3]), None)
    return (before is not None and (before[5] or before[3])[0].lower() == "h") or (
        after is not None and (after[5] or after[3])[0].lower() == "s"
    )
