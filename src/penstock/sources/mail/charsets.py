"""Text in the character sets of mails; others are read as UTF-8."""

from __future__ import annotations

import codecs
from typing import Final

# Not every codec of Python: punycode and idna need time by the square of the length.
_KNOWN: Final = frozenset(
    {
        *("ascii", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-7"),
        *(f"iso8859-{number}" for number in range(1, 17)),
        *(f"cp{number}" for number in (437, 850, 852, 855, 858, 862, 864, 866, 874, 932, 936, 949, 950)),
        *(f"cp{number}" for number in range(1250, 1259)),
        *("koi8-r", "koi8-u", "mac-roman", "tis-620"),
        *("big5", "big5hkscs", "gb2312", "gbk", "gb18030", "hz"),
        *("euc_jp", "shift_jis", "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "euc_kr", "iso2022_kr"),
    }
)
LONGEST_NAME: Final = 40


def decode(content: bytes, charset: str | None) -> str:
    """The text; what cannot be read is replaced."""
    return content.decode(codec_of(charset), "replace")


def codec_of(charset: str | None) -> str:
    name = (charset or "utf-8").strip().strip("\"'")
    try:
        found = codecs.lookup(name).name if 0 < len(name) <= LONGEST_NAME and name.isascii() else "utf-8"
    except (LookupError, ValueError):
        return "utf-8"
    if found == "ascii":
        return "utf-8"  # which contains it; many mails that say ASCII are not
    return found if found in _KNOWN else "utf-8"
