"""Turns HTML into Markdown-like text; scripts, styles, menus and hidden parts are dropped."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.markup_source import prepared
from penstock.pipeline.parse.markup_writer import Attributes, MarkdownWriter
from penstock.pipeline.parse.result import FileMetadata, described, primary

_DROPPED = {
    *(
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "iframe",
        "nav",
        "object",
        "canvas",
        "select",
        "annotation",
        "annotation-xml",
        "datalist",
    ),
}
_UNPARSED = {"noframes", "noembed"}
"""Fallback content for other browsers, which the parser keeps as text."""
_VOID = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"),
}
_LONGEST_TITLE = 500
_CREATED = ("article:published_time", "dc.date", "dcterms.created", "date", "pubdate", "datepublished")
_MODIFIED = ("article:modified_time", "dcterms.modified", "last-modified", "datemodified", "revised")


@dataclass(frozen=True, slots=True)
class WebPage:
    text: str
    about: FileMetadata


def web_page(html: str) -> WebPage:
    """The page's text and metadata."""
    data = prepared(html).encode("utf-8", "replace")
    del html  # the tree takes twelve times as much memory; do not also hold the page twice
    reader = _PageReader()
    reader.read(data)
    said = reader.said
    about = FileMetadata(
        title=cleaned_line(reader.title or said.get("og:title"), _LONGEST_TITLE),
        author=cleaned_line(said.get("author") or said.get("article:author") or said.get("dc.creator")),
        created_at=moment(next((said[name] for name in _CREATED if name in said), None)),
        modified_at=moment(next((said[name] for name in _MODIFIED if name in said), None)),
        language=primary(reader.language or said.get("content-language") or said.get("og:locale")),
        metadata=described(subject=said.get("description"), keywords=said.get("keywords")),
    )
    return WebPage(reader.writer.finished(), about)


class _PageReader:
    """Walks the DOM tree and passes what browsers would show to the writer."""

    def __init__(self) -> None:
        self.title = ""
        self.language: str | None = None
        self.said: dict[str, str] = {}
        self.writer = MarkdownWriter()

    def read(self, data: bytes) -> None:
        tree = _parsed(data)
        given = tree.root.attributes if tree.root is not None else {}
        self.language = given.get("lang") or given.get("xml:lang")
        if _has_frames(tree.root):
            # A browser ignores text in a frameset page, and frames in any other page.
            tree = _parsed(data, is_fragment=True)
        self._walk(tree.root)

    def _walk(self, root: LexborNode | None, *, within: bool = False) -> None:
        """Iterative instead of recursive, since pages may be nested arbitrarily deep."""
        writer = self.writer
        path: list[tuple[LexborNode, str]] = []
        node = root
        while node is not None:
            tag = node.tag or "-"
            if tag == "-text":
                writer.words(node.text_content or "")
            elif tag in _UNPARSED and not within:
                self._walk(_parsed(node.text().encode(), is_fragment=True).root, within=True)
            elif not tag.startswith("-") and self._starts(node, tag):
                child = node.first_child
                if child is not None:
                    path.append((node, tag))
                    node = child
                    continue
                writer.end(tag)
            following = node.next
            while following is None and path:
                node, tag = path.pop()
                writer.end(tag)
                following = node.next
            node = following

    def _starts(self, node: LexborNode, tag: str) -> bool:
        """Whether the writer got the element, so that its content and end must follow."""
        if tag in _DROPPED:
            return False
        attributes = node.attributes
        if tag not in _VOID and _is_hidden(attributes):
            return False
        if tag == "meta":
            name = next(filter(None, map(attributes.get, ("name", "property", "http-equiv", "itemprop"))), "")
            self.said.setdefault(name.lower(), attributes.get("content") or "")
        elif tag == "title" and not self._is_text(node.text()):
            return False
        self.writer.start(tag, attributes)
        return True

    def _is_text(self, title: str) -> bool:
        """A title is not part of the text, unless it is a second one or too long for a title."""
        if self.title.split() in ([], title.split()):
            self.title = title
            return len(title) > _LONGEST_TITLE
        return True


def _has_frames(root: LexborNode | None) -> bool:
    """Whether a frameset took the place of the body; `tree.body` may still be the one that was removed."""
    child = root.first_child if root is not None else None
    while child is not None and child.tag != "frameset":
        child = child.next
    return child is not None


def _parsed(data: bytes, *, is_fragment: bool = False) -> LexborHTMLParser:
    options = LexborDocumentOptions.WO_EVENTS
    try:
        return LexborHTMLParser(data, is_fragment=is_fragment, fragment_tag="body", options=options)
    except SelectolaxError as error:
        raise MemoryError(str(error)) from error  # no HTML is invalid: only memory can run out


def _is_hidden(attributes: Attributes) -> bool:
    if not attributes:
        return False
    style = (attributes.get("style") or "").replace(" ", "").lower()
    return "hidden" in attributes or "display:none" in style
