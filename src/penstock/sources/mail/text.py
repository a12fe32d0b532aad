"""The text of a mail's HTML, and which attachments it shows."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from penstock.sources.reading.html_text import text_of_html

LONGEST_BODY: Final = 1_000_000
"""Characters of one mail that are kept."""
_SHOWN: Final = re.compile(r"cid:([^\s\"'<>()]{1,200})", re.IGNORECASE)


def text_of_page(html: str) -> str:
    return tidy(text_of_html(html[: 4 * LONGEST_BODY], "\n"))


def tidy(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\x00", "").strip()[:LONGEST_BODY]


def shown_ids(html: str) -> frozenset[str]:
    """The Content-IDs of attachments that the HTML shows, in lower case."""
    return frozenset(unquote(found).lower() for found in _SHOWN.findall(html[: 4 * LONGEST_BODY]))
