"""Reads HTML pages."""

from __future__ import annotations

import re

from penstock.model import Parsed
from penstock.pipeline.parse.markup import web_page
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import parsed

_CHARSET = re.compile(
    rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:-]+)|^\s*<\?xml\s[^>]*?\bencoding\s*=\s*[\"']([\w:-]+)", re.I
)


class WebReader:
    def read(self, source: ParserInput) -> Parsed:
        page = web_page(page_text(source.path.read_bytes()))
        return parsed([(None, page.text)], parser="html", about=page.about)


def page_text(data: bytes) -> str:
    """By byte order mark or as UTF-8; the page's declared encoding is used only if that fails."""
    text, encoding = decoded(data)
    declared = _CHARSET.search(data[:4_096])
    if encoding == "cp1252" and declared:
        try:
            return data.decode((declared[1] or declared[2]).decode("ascii"), "replace")
        except LookupError:  # an unknown encoding
            return text
    return text


READER = WebReader()
