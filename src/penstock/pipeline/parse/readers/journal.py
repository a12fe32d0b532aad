"""Reads the articles of journals in JATS: title, authors, abstract, sections, references."""

from __future__ import annotations

from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.readers.xml_prose import ProseWalker
from penstock.pipeline.parse.readers.xml_tree import Node
from penstock.pipeline.parse.result import FileMetadata, described, primary

_SECTIONS = {"ack": "Acknowledgements", "ref-list": "References", "glossary": "Glossary", "notes": "Notes"}


def read_article(root: Node, out: Composer) -> FileMetadata:
    """Write the article; returns its metadata."""
    front = root.first("front", "front-stub") or Node("front", {})
    meta = front.first("article-meta") or front
    title = _text(meta, "article-title")
    if title:
        out.heading(title, 1)
    authors = [name for name in map(_author, meta.all("contrib")) if name]
    _front_lines(front, meta, authors, out)
    walker = ProseWalker(out)
    for abstract in meta.all("abstract", "trans-abstract"):
        heading = abstract.first("title")
        out.heading(heading.text() if heading is not None else "Abstract", 2)
        walker.walk(abstract, 3, skip=heading.text() if heading is not None else None)
    keywords = [each.text() for each in meta.all("kwd")]
    if keywords:
        out.paragraph(f"Keywords: {', '.join(keywords)}")
    for part in root.elements():
        if part.tag == "body":
            walker.walk(part, 2)
        elif part.tag in ("back", "floats-group", "sub-article", "response"):
            _back(part, walker, out)
    return FileMetadata(
        title=cleaned_line(title),
        author=cleaned_line(", ".join(authors)),
        created_at=moment(_date(meta)),
        language=primary(root.attributes.get("xml:lang")),
        metadata=described(keywords=", ".join(keywords), subject=_text(front, "journal-title")),
    )


def _front_lines(front: Node, meta: Node, authors: list[str], out: Composer) -> None:
    lines = [
        ", ".join(authors),
        *(each.text() for each in meta.all("aff")),
        *(each.text() for each in meta.all("corresp", "author-notes")),
        _text(front, "journal-title"),
        *(f"{each.attributes.get('pub-id-type', 'id')}: {each.text()}" for each in meta.all("article-id")),
        *(each.text() for each in meta.all("subject")),
        *(each.text() for each in meta.all("copyright-statement", "license")),
    ]
    out.items(line for line in lines if line)


def _back(part: Node, walker: ProseWalker, out: Composer) -> None:
    for section in part.elements():
        if section.tag not in _SECTIONS:
            holder = Node("back", {}, [section])
            walker.walk(holder, 2)
            continue
        title = section.first("title")
        out.heading(title.text() if title is not None else _SECTIONS[section.tag], 2)
        if section.tag == "ref-list":
            out.items(f"- {_reference(each)}" for each in section.all("ref"))
        else:
            walker.walk(section, 3, skip=title.text() if title is not None else None)


def _reference(ref: Node) -> str:
    """Names and years are separate elements, often without a space between them."""
    parts: list[str] = []
    waiting: list[Node | str] = [ref]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
        else:
            waiting += reversed(one.kids)
            parts.append(" ")
    return " ".join("".join(parts).split())


def _author(contrib: Node) -> str | None:
    if contrib.attributes.get("contrib-type", "author") != "author":
        return None
    names = contrib.all("name", "string-name")
    if not names:
        return _text(contrib, "collab") or None
    name = names[0]
    given, family = name.first("given-names"), name.first("surname")
    parts = [part.text() for part in (given, family) if part is not None]
    return " ".join(parts) or name.text()


def _text(node: Node, tag: str) -> str:
    return next((each.text() for each in node.all(tag)), "")


def _date(meta: Node) -> str | None:
    for date in meta.all("pub-date"):
        year, month, day = (date.first(part) for part in ("year", "month", "day"))
        if year is not None:
            digits = [part.text() if part is not None else "1" for part in (month, day)]
            if year.text().isdecimal() and all(digit.isdecimal() for digit in digits):
                return f"{year.text()[:4]:0>4}-{digits[0][-2:]:0>2}-{digits[1][-2:]:0>2}"
    return None
