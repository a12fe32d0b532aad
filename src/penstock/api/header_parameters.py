"""Parses the parameters of a header such as Content-Disposition in one pass, in linear time."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

MOST_PARAMETERS: Final = 32

# Every part is optional, so a match never fails and never backtracks: the time is proportional to the length.
_PARAMETER: Final = re.compile(
    r"""[ \t]*+ ([^=;"\s]*+) [ \t]*+ (?: = [ \t]*+ (?: "((?:[^"\\]|\\.)*+) | ([^;]*+) ) )? [^;]*+ (;?)""",
    re.X,
)
_ESCAPED: Final = re.compile(r'\\(["\\])')


def parameters(value: str) -> dict[str, str]:
    """The parameters after the first semicolon, names in lower case; the first of a repeated name counts."""
    found: dict[str, str] = {}
    at = len(value.partition(";")[0]) + 1
    while at < len(value) and len(found) < MOST_PARAMETERS:
        match = _PARAMETER.match(value, at)
        assert match is not None
        name, quoted, plain, _ = match.groups()
        if name and (quoted is not None or plain is not None):
            text = plain.strip() if quoted is None else _ESCAPED.sub(r"\1", quoted)
            found.setdefault(name.lower(), text)
        if not match[4]:
            break
        at = match.end()
    return found


def filename_of(found: dict[str, str]) -> str | None:
    """The filename of a Content-Disposition; RFC 5987's filename* takes precedence."""
    charset, mark, encoded = found.get("filename*", "").partition("''")
    if mark and charset.lower() == "utf-8":
        return unquote(encoded)
    filename = found.get("filename")
    # Browsers and httpx write a quote inside a name as %22.
    return None if filename is None else filename.replace("%22", '"')
