"""Reads rich text (RTF): headings, lists, tables, footnotes and text boxes."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.office.rtf import RtfReader
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import FileMetadata, described, parsed


class RichTextReader:
    def read(self, source: ParserInput) -> Parsed:
        reader = RtfReader()
        document = reader.read(source.path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
        info = document.info
        about = FileMetadata(
            title=cleaned_line(info.get("title")),
            author=cleaned_line(info.get("author")),
            created_at=moment(info.get("creatim")),
            modified_at=moment(info.get("revtim")),
            metadata=described(
                subject=info.get("subject") or info.get("doccomm"), keywords=info.get("keywords")
            ),
        )
        warnings = ("the rich text has no last brace, so its end may be missing",)
        return parsed(
            [(None, _joined(document.pieces.text()))],
            parser="rtf",
            about=about,
            warnings=warnings if reader.is_cut else (),
        )


def _joined(text: str) -> str:
    """Characters beyond the basic plane come as two halves."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


READER = RichTextReader()
