"""Turns HTML into Markdown-like text; scripts, styles, menus and hidden parts are dropped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.result import About, described, primary
from penstock.pipeline.parse.table import markdown_table

_DROPPED = {
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "nav",
    "object",
    "canvas",
    "math",
    "select",
}
_PARAGRAPHS = {
    "p",
    "div",
    "section",
    "article",
    "main",
    "aside",
    "header",
    "footer",
    "blockquote",
    "form",
    "dl",
}
_PARAGRAPHS |= {
    "dd",
    "dt",
    "address",
    "figure",
    "figcaption",
    "fieldset",
    "hr",
    "body",
    "td",
    "th",
    "tr",
    "table",
}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_HEADING = re.compile(r"h([1-6])")
_SPACES = re.compile(r"\s+")
_STRUCTURAL = re.compile(r"^(#{1,6}\s|```|~~~)", re.M)
"""What would turn a line of prose into structure."""
_CREATED = ("article:published_time", "dc.date", "dcterms.created", "date", "pubdate", "datepublished")
_MODIFIED = ("article:modified_time", "dcterms.modified", "last-modified", "datemodified", "revised")


@dataclass(frozen=True, slots=True)
class WebPage:
    text: str
    about: About


def web_page(html: str) -> WebPage:
    """The page's words and what its head says of it."""
    writer = _Writer()
    writer.feed(html)
    writer.close()
    said = writer.said
    about = About(
        title=cleaned_line(writer.title or said.get("og:title")),
        author=cleaned_line(said.get("author") or said.get("article:author") or said.get("dc.creator")),
        created_at=moment(next((said[name] for name in _CREATED if name in said), None)),
        modified_at=moment(next((said[name] for name in _MODIFIED if name in said), None)),
        language=primary(writer.language or said.get("content-language") or said.get("og:locale")),
        metadata=described(subject=said.get("description"), keywords=said.get("keywords")),
    )
    return WebPage(writer.finished(), about)


class _Piece(NamedTuple):
    text: str
    is_item: bool = False
    is_heading: bool = False


@dataclass(slots=True)
class _Table:
    rows: list[list[list[_Piece]]] = field(default_factory=list)
    cell: list[_Piece] | None = None
    holds_table: bool = False

    def pieces(self) -> list[_Piece]:
        """A table of data as one piece; one that only arranges the page as what it holds."""
        loose = [piece for row in self.rows for cell in row for piece in cell]
        if (
            self.holds_table
            or any(piece.is_heading for piece in loose)
            or max(map(len, self.rows), default=0) < 2
        ):
            return loose
        rows = [[" ".join(piece.text for piece in cell) for cell in row] for row in self.rows]
        return [_Piece(markdown_table(rows))] if any(map(any, rows)) else []


class _Writer(HTMLParser):
    """Collects pieces of text; inside a table's cell they go to the cell."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.language: str | None = None
        self.said: dict[str, str] = {}
        self._pieces: list[_Piece] = []
        self._line: list[str] = []
        self._heading = 0
        self._mark = ""
        self._dropped: list[str] = []
        self._in_title = False
        self._preformatted = False
        self._lists: list[int | None] = []
        self._tables: list[_Table] = []

    def finished(self) -> str:
        while self._tables:
            self._end_table()
        self._end_line()
        text = ""
        for number, piece in enumerate(self._pieces):
            joined = piece.is_item and number and self._pieces[number - 1].is_item
            text += ("\n" if joined else "\n\n") + piece.text
        return text.strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.append(tag)
        elif tag in _DROPPED or (tag not in _VOID and _is_hidden(given)):
            self._dropped.append(tag)
        elif tag == "html":
            self.language = given.get("lang") or given.get("xml:lang")
        elif tag == "meta":
            name = (
                given.get("name") or given.get("property") or given.get("http-equiv") or given.get("itemprop")
            )
            self.said.setdefault((name or "").lower(), given.get("content") or "")
        elif tag == "title":
            self._in_title = True
        elif tag == "br":
            self._line.append("\n")
        elif tag == "img":
            self._line.append(f" {given.get('alt') or ''} ")
        else:
            self._start_block(tag)

    def _start_block(self, tag: str) -> None:
        if heading := _HEADING.fullmatch(tag):
            self._end_line()
            self._heading = int(heading[1])
        elif tag == "pre":
            self._end_line()
            self._preformatted = True
        elif tag in ("ul", "ol"):
            self._end_line()
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._start_item()
        elif tag == "table":
            self._end_line()
            if self._tables:
                self._tables[-1].holds_table = True
            self._tables.append(_Table())
        elif tag in ("tr", "td", "th") and self._tables:
            self._end_cell()
            if tag == "tr" or not self._tables[-1].rows:
                self._tables[-1].rows.append([])
            if tag != "tr":
                self._tables[-1].cell = []
        elif tag in _PARAGRAPHS:
            self._end_line()

    def handle_endtag(self, tag: str) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.pop()
        elif tag == "title":
            self._in_title = False
        elif tag == "table" and self._tables:
            self._end_table()
        elif tag in ("td", "th", "tr") and self._tables:
            self._end_cell()
        elif tag == "pre":
            self._end_preformatted()
        elif tag in ("ul", "ol"):
            self._end_line()
            if self._lists:
                self._lists.pop()
        elif tag in _PARAGRAPHS or tag == "li" or _HEADING.fullmatch(tag):
            self._end_line()
            self._heading = 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._dropped:
            self._line.append(data if self._preformatted else _SPACES.sub(" ", data))

    def _start_item(self) -> None:
        self._end_line()
        number = self._lists[-1] if self._lists else None
        if number is not None:
            number += 1
            self._lists[-1] = number
        indent = "  " * max(0, len(self._lists) - 1)
        self._mark = indent + ("- " if number is None else f"{number}. ")

    def _end_line(self) -> None:
        """Finish the piece at hand, if it has words."""
        if self._preformatted:
            self._end_preformatted()
        lines = [" ".join(line.split()) for line in "".join(self._line).split("\n")]
        self._line = []
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        if self._heading:
            self._put(_Piece("#" * self._heading + " " + text.replace("\n", " "), is_heading=True))
        elif self._lists:
            mark = self._mark or "  " * len(self._lists)
            self._put(_Piece(mark + text.replace("\n", " "), is_item=True))
            self._mark = ""
        else:
            self._put(_Piece(_STRUCTURAL.sub(r"\\\1", text)))

    def _end_preformatted(self) -> None:
        text = "".join(self._line).strip("\n")
        self._line, self._preformatted = [], False
        if text.strip():
            fence = "~~~~" if "```" in text else "```"
            self._put(_Piece(f"{fence}\n{text}\n{fence}"))

    def _end_cell(self) -> None:
        self._end_line()
        table = self._tables[-1]
        if table.cell is not None:
            table.rows[-1].append(table.cell)
            table.cell = None

    def _end_table(self) -> None:
        self._end_cell()
        for piece in self._tables.pop().pieces():
            self._put(piece)

    def _put(self, piece: _Piece) -> None:
        cell = self._tables[-1].cell if self._tables else None
        (self._pieces if cell is None else cell).append(piece)


def _is_hidden(given: dict[str, str | None]) -> bool:
    style = (given.get("style") or "").replace(" ", "").lower()
    return "hidden" in given or "display:none" in style
