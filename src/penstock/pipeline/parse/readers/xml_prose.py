"""Writes XML that holds a document (JATS, DocBook, TEI, patents): sections, paragraphs, lists, tables."""

from __future__ import annotations

from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.readers.xml_tree import Node

TITLES = ("title", "head", "heading", "article-title", "invention-title", "doctitle")
_PARAGRAPHS = frozenset({"p", "para", "simpara", "claim-text", "disp-quote", "blockquote", "abstract-sec"})
_TABLES = frozenset({"table", "tgroup", "informaltable"})
_ROWS = ("tr", "row", "strow")
_CELLS = ("td", "th", "entry", "stentry")
_LISTS = frozenset({"list", "itemizedlist", "orderedlist", "variablelist", "ul", "ol", "def-list", "dl"})
_ITEMS = ("list-item", "listitem", "li", "item", "def-item", "varlistentry")
_CODE = frozenset({"code", "programlisting", "screen", "codeblock", "preformat", "literallayout"})
_NOTES = frozenset({"fn", "footnote", "note-group"})
_FRAMES = frozenset({"table-wrap", "fig", "figure", "tables", "caption", "boxed-text"})
"""Their title is a caption, not a heading."""
_SILENT = frozenset({"graphic", "inline-graphic", "media", "object-id", "colspec", "maths", "mml:math"})
_NAMED = frozenset(
    {
        *("abstract", "claims", "description", "drawings", "summary", "introduction", "conclusion"),
        *("appendix", "bibliography", "references", "acknowledgements", "glossary", "preface"),
    }
)
"""Sections that are called by their element if they have no title."""
_BLOCKS = _PARAGRAPHS | _TABLES | _LISTS | _CODE | _FRAMES | {"sec", "section", "div", "table-wrap-group"}
_DEEPEST = 150
"""What is nested deeper is one paragraph."""


class ProseWalker:
    def __init__(self, out: Composer) -> None:
        self._out = out

    def document(self, root: Node, title: str | None) -> None:
        if title:
            self._out.heading(title, 1)
        self.walk(root, 2 if title else 1, skip=title)

    def walk(self, node: Node, level: int, skip: str | None = None, depth: int = 0) -> None:
        """Write what is inside an element; `skip` is a title that is already there."""
        if depth > _DEEPEST:
            self._out.paragraph(node.text())
            return
        words: list[str] = []
        is_sentence = node.tag in _PARAGRAPHS or node.has_words
        for kid in node.kids:
            if isinstance(kid, str) or (is_sentence and kid.tag not in _BLOCKS):
                words.append(kid if isinstance(kid, str) else _inline(kid))
                continue
            self._end(words)
            self._block(kid, level, skip, depth)
        self._end(words)

    def _end(self, words: list[str]) -> None:
        if words:
            self._out.paragraph(" ".join("".join(words).split()))
            words.clear()

    def _block(self, node: Node, level: int, skip: str | None, depth: int) -> None:
        out = self._out
        if node.tag in _SILENT:
            return
        if node.tag in TITLES:
            said = node.text()
            if said != skip:
                deeper = node.attributes.get("level", "")
                out.heading(said, level + (int(deeper) - 1 if deeper.isdecimal() and len(deeper) < 2 else 0))
        elif node.tag in _TABLES:
            self._table(node)
        elif node.tag in _LISTS:
            self._list(node)
        elif node.tag in _CODE:
            out.code("".join(kid if isinstance(kid, str) else kid.text() for kid in node.kids))
        elif node.tag in _FRAMES:
            self._frame(node, level, depth)
        else:
            self._section(node, level, skip, depth)

    def _section(self, node: Node, level: int, skip: str | None, depth: int) -> None:
        title = node.first(*TITLES)
        if node.tag in _PARAGRAPHS or node.has_words:
            self.walk(node, level, skip, depth + 1)
        elif title is not None and title.text() != skip and title.tag != "heading":
            self._out.heading(_numbered(node, title.text()), level)
            self.walk(node, level + 1, title.text(), depth + 1)
        elif node.tag in _NAMED and title is None:
            self._out.heading(node.tag.capitalize(), level)
            self.walk(node, level + 1, skip, depth + 1)
        else:
            self.walk(node, level, skip, depth + 1)

    def _frame(self, node: Node, level: int, depth: int) -> None:
        caption: list[str] = []
        for kid in node.elements():
            if kid.tag in ("label", "caption", *TITLES) or (node.tag == "caption" and kid.tag == "p"):
                caption.append(f"{kid.text()} ")
            else:
                self._end(caption)
                self._block(kid, level, None, depth + 1)
        self._end(caption)

    def _table(self, node: Node) -> None:
        for title in node.elements():
            if title.tag in ("caption", *TITLES):
                self._out.paragraph(title.text())
        rows = []
        for row in node.all(*_ROWS):
            cells: list[str] = []
            for cell in row.all(*_CELLS):
                span = cell.attributes.get("colspan", "1")
                cells.append(cell.text())
                cells += [""] * (min(int(span), 50) - 1 if span.isdecimal() and len(span) < 4 else 0)
            rows.append(cells)
        if rows:
            self._out.table(rows)
        else:
            self._out.paragraph(node.text())
        for note in node.all("table-wrap-foot", "tfoot-note"):
            self._out.paragraph(note.text())

    def _list(self, node: Node) -> None:
        if (title := node.first(*TITLES)) is not None:
            self._out.paragraph(title.text())
        items = node.all(*_ITEMS)
        self._out.items([f"- {item.text()}" for item in items] or [node.text()])


def _inline(node: Node) -> str:
    """An element inside a sentence; a footnote stays where it is, in brackets."""
    if node.tag in _SILENT:
        return ""
    return f" ({node.text()}) " if node.tag in _NOTES else "".join(_pieces(node))


def _pieces(node: Node) -> list[str]:
    parts: list[str] = []
    waiting: list[Node | str] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
        elif one.tag in _NOTES:
            waiting += (")", *reversed(one.kids), " (")
        else:
            waiting += reversed(one.kids)
    return parts


def _numbered(node: Node, title: str) -> str:
    label = node.first("label")
    return f"{label.text()} {title}" if label is not None and label.text() else title
