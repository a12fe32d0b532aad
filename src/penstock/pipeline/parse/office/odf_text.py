"""Reads the flow of an OpenDocument file: headings, paragraphs, lists, tables, frames and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.pipeline.parse.office.odf import MOST_REPEATED, OpenDocument, ParagraphWords
from penstock.pipeline.parse.office.package import Element, all_of, attribute, child, local, number, words_of
from penstock.pipeline.parse.office.pieces import Pieces

_MOST_SPANNED = 64
_HOLDERS = {
    *("section", "index-body", "index-title", "numbered-paragraph"),
    *("g", "a", "text-box", "custom-shape", "rect", "ellipse"),
}
_INDEXES = {
    *("table-of-content", "alphabetical-index", "illustration-index", "table-index", "user-index"),
    *("object-index", "bibliography"),
}


class FlowReader:
    """Writes what it reads into pieces; notes come at the end, as in print."""

    def __init__(self, document: OpenDocument, pieces: Pieces) -> None:
        self._document = document
        self._pieces = pieces
        self._notes: list[tuple[str, Element]] = []
        self._counts: dict[tuple[int, str | None], int] = {}

    def read(self, parent: Iterable[Element]) -> None:
        for one in parent:
            self._block(one)

    def end(self) -> None:
        """Write the notes met so far."""
        while self._notes:
            notes, self._notes = self._notes, []
            for mark, note in notes:
                body = child(note, "note-body")
                said = " ".join(self._inline(body)) if body is not None else ""
                self._pieces.paragraph(f"[{mark}] {said}" if mark else said)

    def _block(self, one: Element) -> None:
        name = local(one)
        if name == "h":
            self._heading(one, number(one, "outline-level", 1))
        elif name == "p":
            style = attribute(one, "style-name")
            level = self._document.styles.level(style)
            if level:
                self._heading(one, level)
            elif style not in self._document.styles.hidden:
                self._paragraph(one)
        elif name == "list":
            self._list(one, 0, None)
        elif name == "table":
            self._pieces.table(list(self.rows(one)))
        elif name == "frame":
            self.frame(one)
        elif name in _HOLDERS:
            if attribute(one, "display") != "none":
                self.read(one)
        elif name in _INDEXES:
            body = child(one, "index-body")
            if body is not None:
                self._index(body)

    def _index(self, body: Element) -> None:
        for one in all_of(body, "p"):
            self._pieces.paragraph(words_of(one))

    def _heading(self, element: Element, level: int) -> None:
        words = self._words()
        text = words.of(element)
        self._pieces.heading(level, text)
        self._apart(words)

    def _paragraph(self, element: Element) -> None:
        words = self._words()
        text = words.of(element)
        self._pieces.paragraph(text)
        self._apart(words)

    def _words(self) -> ParagraphWords:
        return ParagraphWords(self._document.styles)

    def _apart(self, words: ParagraphWords) -> None:
        self._notes += words.notes
        for frame in words.frames:
            self._block(frame)

    def frame(self, frame: Element) -> None:
        """A frame shows the first of its alternatives: text, a table, a chart, or a picture's description."""
        for one in frame:
            name = local(one)
            if name == "text-box":
                self.read(one)
                return
            if name == "table":
                self._pieces.table(list(self.rows(one)))
                return
            if name == "object":
                root = self._document.charts.get((attribute(one, "href") or "").removeprefix("./"))
                if root is not None:
                    self._chart(root)
                return
        described = (child(frame, "desc"), child(frame, "title"))
        self._pieces.paragraph(next((words_of(one) for one in described if one is not None), ""))

    def _chart(self, root: Element) -> None:
        for chart in all_of(root, "chart"):
            for one in chart:
                if local(one) in ("title", "subtitle"):
                    self._pieces.paragraph(words_of(one))
                elif local(one) == "table":
                    self._pieces.table(list(self.rows(one)))

    def _list(self, listed: Element, depth: int, style: str | None) -> None:
        style = attribute(listed, "style-name") or style
        is_numbered = depth + 1 in self._document.styles.numbered.get(style or "", ())
        count = 0
        for item in listed:
            if local(item) not in ("list-item", "list-header"):
                continue
            first = True
            for one in item:
                name = local(one)
                if name == "list":
                    self._list(one, depth + 1, style)
                elif name == "p" and not self._document.styles.level(attribute(one, "style-name")):
                    words = self._words()
                    text = words.of(one)
                    if first and text.strip():
                        count += 1
                    mark = f"{count}." if is_numbered else "-"
                    self._pieces.item(text, depth, mark if first else " ")
                    first = False
                    self._apart(words)
                else:
                    self._block(one)

    def rows(self, table: Element) -> Iterator[list[str]]:
        """The rows of a table; the cells a merged one covers are empty."""
        for row in _rows(table):
            cells: list[str] = []
            for cell in row:
                if local(cell) not in ("table-cell", "covered-table-cell"):
                    continue
                said = " ".join(self._inline(cell)) if local(cell) == "table-cell" else ""
                times = number(cell, "number-columns-repeated", 1)
                cells += [said] * min(times, MOST_REPEATED if said else _MOST_SPANNED)
            for _ in range(min(number(row, "number-rows-repeated", 1), MOST_REPEATED if any(cells) else 1)):
                yield cells

    def _inline(self, parent: Element) -> Iterator[str]:
        """The text of a cell or a note, without its structure."""
        for one in parent:
            name = local(one)
            if name in ("p", "h"):
                words = self._words()
                yield words.of(one)
                self._notes += words.notes
                for frame in words.frames:
                    yield from self._inline(frame)
            elif name == "table":
                for row in self.rows(one):
                    yield " ".join(filter(None, row))
            elif name in ("list", "list-item", "list-header", "text-box", "frame", "section", "table-cell"):
                yield from self._inline(one)


def _rows(table: Element) -> Iterator[Element]:
    for one in table:
        name = local(one)
        if name == "table-row":
            if attribute(one, "visibility") not in ("collapse", "filter"):
                yield one
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(one)
