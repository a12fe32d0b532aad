"""Reads e-books (EPUB): the chapters in the order of reading, each as a web page."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from penstock.errors import DocumentRejected
from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.markup import web_page
from penstock.pipeline.parse.office.package import (
    Element,
    Package,
    all_of,
    attribute,
    child,
    inner,
    local,
    parsed_xml,
    words_of,
)
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.web import page_text
from penstock.pipeline.parse.result import FileMetadata, described, parsed, primary
from penstock.pipeline.reasons import Reason, rejected

_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_HEADING = re.compile(r"^#{1,6} ", re.M)


class EpubReader:
    def read(self, source: ParserInput) -> Parsed:
        with Package(source.path) as package:
            _check_protection(package)
            name = _package_name(package)
            book = package.required(name)
            folder = posixpath.dirname(name)
            files = {
                attribute(item, "id") or "": (item, _path(folder, attribute(item, "href")))
                for item in all_of(book, "item")
            }
            titles = _titles(package, [path for _, path in files.values()])
            pieces = Pieces()
            for number, itemref in enumerate(all_of(book, "itemref"), start=1):
                item, path = files.get(attribute(itemref, "idref") or "", (None, ""))
                if item is None or attribute(item, "media-type") not in _PAGES:
                    continue
                if number > 1 and "nav" in (attribute(item, "properties") or "").split():
                    continue  # the table of contents, which repeats every heading
                data = package.data(path)
                text = web_page(page_text(data)).text if data else ""
                if text and path in titles and not _HEADING.search(text):
                    pieces.heading(1, titles[path])
                    text = _without_first(titles[path], text)
                pieces.verbatim(text)
            return parsed([(None, pieces.text())], parser="epub", about=_about(book))


def _check_protection(package: Package) -> None:
    """Reject a book with rights management; scrambled fonts are usual and harmless."""
    root = package.xml("META-INF/encryption.xml")
    for method in all_of(root, "EncryptionMethod") if root is not None else ():
        if attribute(method, "Algorithm") not in _FONTS:
            raise rejected(
                Reason.ENCRYPTED,
                "the e-book is protected (DRM)",
                "Upload a copy of the e-book without protection",
            )


def _package_name(package: Package) -> str:
    container = package.xml("META-INF/container.xml")
    named = (
        (attribute(one, "full-path") for one in all_of(container, "rootfile"))
        if container is not None
        else ()
    )
    found = next(filter(None, named), None) or next(
        (one for one in package.names if one.endswith(".opf")), None
    )
    if found is None:
        raise rejected(Reason.MALFORMED, "the e-book does not say what it consists of")
    return found


def _path(folder: str, href: str | None) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote((href or "").partition("#")[0])))


def _titles(package: Package, paths: list[str]) -> dict[str, str]:
    """The chapters' titles by file, from the table of contents; the first title of a file counts."""
    found: dict[str, str] = {}
    for path in paths:
        if not path.endswith((".ncx", "nav.xhtml", "toc.xhtml", "nav.html", "toc.html")):
            continue
        try:
            data = package.data(path)
            if not data:
                continue
            root = parsed_xml(_without_named_entities(data), path)
        except DocumentRejected as error:
            if error.code != Reason.MALFORMED:
                raise
            continue  # only titles are lost, which most chapters have themselves
        folder = posixpath.dirname(path)
        for one in root.iter():
            if local(one) == "navPoint":
                content = child(one, "content")
                href = attribute(content, "src") if content is not None else None
                said = words_of(child(one, "navLabel"))
            elif local(one) == "a":
                href, said = attribute(one, "href"), words_of(one)
            else:
                continue
            if said:
                found.setdefault(_path(folder, href), said)
    return found


def _without_first(title: str, text: str) -> str:
    """The text without its first line, if that is the title."""
    first, _, rest = text.partition("\n")
    return rest if first.split() == title.split() else text


def _without_named_entities(data: bytes) -> bytes:
    """Named entities of HTML, which XML does not know, become spaces."""
    return re.sub(rb"&(?!amp;|lt;|gt;|quot;|apos;|#)\w*+;?", b" ", data)


def _about(book: Element) -> FileMetadata:
    said: dict[str, list[str]] = {}
    for one in inner(book, "metadata"):
        name = local(one)
        if name == "meta" and attribute(one, "property"):
            name = attribute(one, "property") or ""
        said.setdefault(name, []).append(words_of(one))

    def first(*names: str) -> str | None:
        return next((said[name][0] for name in names if said.get(name)), None)

    return FileMetadata(
        title=cleaned_line(first("title")),
        author=cleaned_line(", ".join(said.get("creator", ()))),
        created_at=moment(first("date")),
        modified_at=moment(first("dcterms:modified")),
        language=primary(first("language")),
        metadata=described(subject=first("description"), keywords=", ".join(said.get("subject", ()))),
    )


READER = EpubReader()
