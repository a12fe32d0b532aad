"""Reads Jupyter notebooks: Markdown cells with their headings, code cells, and the text they printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.markup import web_page
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.fallback import as_plain_text
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import FileMetadata

_MOST_OUTPUT = 20_000
"""Characters of one output: a longer one is a log or data, not text."""


_MOST_HTML = 1_000_000


class NotebookReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        try:
            book = json.loads(text)
        except (ValueError, RecursionError) as error:
            return as_plain_text(text, "JSON", str(error)[:100])
        out = Composer()
        for cell in _cells(book):
            _add(out, cell)
        about = book.get("metadata") if isinstance(book, dict) else None
        return out.finished("notebook", _about(about if isinstance(about, dict) else {}))


def _cells(book: Any) -> Iterator[dict[str, Any]]:
    """The cells; those of an old notebook (version 3) are inside worksheets."""
    if not isinstance(book, dict):
        return
    sheets = book.get("worksheets")
    for holder in (book, *(sheets if isinstance(sheets, list) else ())):
        cells = holder.get("cells") if isinstance(holder, dict) else None
        for cell in cells if isinstance(cells, list) else ():
            if isinstance(cell, dict):
                yield cell


def _add(out: Composer, cell: dict[str, Any]) -> None:
    kind = cell.get("cell_type")
    said = _joined(cell.get("source", cell.get("input")))
    if kind == "markdown":
        out.markdown(said)
    elif kind == "heading":
        level = cell.get("level")
        out.heading(said, level if isinstance(level, int) else 1)
    elif kind == "code":
        out.code(said)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                out.code(_printed(output)[:_MOST_OUTPUT])
    else:
        out.paragraph(said)


def _printed(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename') or ''}: {output.get('evalue') or ''}".strip(": ")
    data = output.get("data")
    if isinstance(data, dict):
        said = _joined(data.get("text/markdown") or data.get("text/plain"))
        # The other forms of an output say the same, so that its HTML is read only if there is nothing else.
        return said or web_page(_joined(data.get("text/html"))[:_MOST_HTML]).text
    return _joined(output.get("text"))


def _joined(value: Any) -> str:
    """Text is one string, or a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _about(metadata: dict[str, Any]) -> FileMetadata:
    title, authors = metadata.get("title"), metadata.get("authors")
    names = [
        each["name"] if isinstance(each, dict) else each
        for each in (authors if isinstance(authors, list) else ())
        if isinstance(each.get("name") if isinstance(each, dict) else each, str)
    ]
    return FileMetadata(
        title=cleaned_line(title) if isinstance(title, str) else None, author=cleaned_line(", ".join(names))
    )


READER = NotebookReader()
