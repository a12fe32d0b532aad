"""Reads Markdown: the text is unchanged, front matter becomes metadata."""

from __future__ import annotations

import re

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import FileMetadata, described, parsed, primary

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S)
_FIELD = re.compile(r"^([A-Za-z_][\w -]*):[ \t]*(\S.*)$", re.M)


class MarkdownReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        fields: dict[str, str] = {}
        if front := _FRONT_MATTER.match(text):
            fields = {name.lower(): value.strip("\"' ") for name, value in _FIELD.findall(front[1])}
            text = text[front.end() :]
        about = FileMetadata(
            title=cleaned_line(fields.get("title")),
            author=cleaned_line(fields.get("author") or fields.get("authors")),
            created_at=moment(fields.get("date") or fields.get("created")),
            modified_at=moment(fields.get("updated") or fields.get("modified") or fields.get("lastmod")),
            language=primary(fields.get("lang") or fields.get("language")),
            metadata=described(
                keywords=fields.get("tags") or fields.get("keywords"), subject=fields.get("description")
            ),
        )
        return parsed([(None, _without_comments(text))], parser="markdown", about=about)


def _without_comments(text: str) -> str:
    """One that is never closed is text: after it, none is searched for."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join((*parts, text[at:]))


READER = MarkdownReader()
