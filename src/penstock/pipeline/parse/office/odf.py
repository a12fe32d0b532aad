"""Opens OpenDocument files: their parts, metadata, styles, and the words of a paragraph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.office.package import (
    Element,
    Package,
    all_of,
    attribute,
    child,
    local,
    number,
    words_of,
)
from penstock.pipeline.parse.result import FileMetadata, described, primary
from penstock.pipeline.reasons import Reason, rejected

_NOT_READ = {"annotation", "annotation-end", "tracked-changes", "change", "bookmark-ref-source", "ruby-text"}
_APART = {"frame", "custom-shape", "g", "rect", "ellipse", "a"}
MOST_REPEATED = 1_000
"""How often a cell or row may stand for its repetition; the file may say millions."""


class OpenDocument:
    def __init__(self, path: Path) -> None:
        with Package(path) as package:
            manifest = package.xml("META-INF/manifest.xml")
            if manifest is not None and next(all_of(manifest, "encryption-data"), None) is not None:
                raise rejected(Reason.ENCRYPTED, "the office file is protected by a password")
            root = package.required("content.xml")
            self.about = _about(package.xml("meta.xml"))
            self.styles = _Styles(root, package.xml("styles.xml"))
            self.charts = _charts(package)
        body = child(root, "body")
        if body is None or not len(body):
            raise rejected(Reason.MALFORMED, "the file has no body")
        self.body = body[0]


class _Styles:
    """What the styles of a document say of those who use them."""

    def __init__(self, *roots: Element | None) -> None:
        self.hidden: set[str] = set()
        self._parents: dict[str, str] = {}
        self._levels: dict[str, int] = {}
        self.numbered: dict[str, set[int]] = {}
        for root in roots:
            for style in all_of(root, "style") if root is not None else ():
                self._add(style)
            for listed in all_of(root, "list-style") if root is not None else ():
                levels = {
                    number(one, "level", 1)
                    for one in listed
                    if local(one) == "list-level-style-number" and attribute(one, "num-format")
                }
                self.numbered[attribute(listed, "name") or ""] = levels

    def level(self, name: str | None) -> int:
        """The outline level of a paragraph's style; 0 if it is no heading."""
        for _ in range(20):
            if name is None:
                return 0
            if name in self._levels:
                return self._levels[name]
            name = self._parents.get(name)
        return 0

    def _add(self, style: Element) -> None:
        name = attribute(style, "name") or ""
        if parent := attribute(style, "parent-style-name"):
            self._parents[name] = parent
        if name == "Title":
            self._levels[name] = 1
        if level := number(style, "default-outline-level"):
            self._levels[name] = level
        for one in style:
            if local(one) == "text-properties" and attribute(one, "display") == "none":
                self.hidden.add(name)
            if local(one) == "table-properties" and attribute(one, "display") == "false":
                self.hidden.add(name)


class ParagraphWords:
    """The words of a paragraph; frames and notes in it are kept apart, to be read after it."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles
        self.frames: list[Element] = []
        self.notes: list[tuple[str, Element]] = []

    def of(self, paragraph: Element) -> str:
        return "".join(self._parts(paragraph))

    def _parts(self, element: Element) -> Iterator[str]:
        yield " ".join((element.text or "").split("\n"))
        for one in element:
            name = local(one)
            if name == "s":
                yield " " * min(number(one, "c", 1), 100)
            elif name == "tab":
                yield "\t"
            elif name == "line-break":
                yield "\n"
            elif name == "note":
                mark = words_of(child(one, "note-citation"))
                self.notes.append((mark, one))
                yield f"[{mark}]" if mark else ""
            elif name in _APART and not (name == "a" and child(one, "frame") is None):
                self.frames.append(one)
            elif name not in _NOT_READ and not (
                name == "span" and attribute(one, "style-name") in self._styles.hidden
            ):
                yield from self._parts(one)
            if one.tail:
                yield one.tail


def _about(root: Element | None) -> FileMetadata:
    said: dict[str, str] = {}
    keywords = []
    for one in all_of(root, "meta") if root is not None else ():
        for each in one:
            if local(each) == "keyword":
                keywords.append(words_of(each))
            else:
                said.setdefault(local(each), words_of(each))
    return FileMetadata(
        title=cleaned_line(said.get("title")),
        author=cleaned_line(said.get("initial-creator") or said.get("creator")),
        created_at=moment(said.get("creation-date")),
        modified_at=moment(said.get("date")),
        language=primary(said.get("language")),
        metadata=described(
            subject=said.get("subject") or said.get("description"), keywords=", ".join(keywords)
        ),
    )


def _charts(package: Package) -> dict[str, Element]:
    """The charts and formulas in the file, by the name with which a frame refers to them."""
    found = {}
    for name in sorted(package.names):
        folder, _, base = name.rpartition("/")
        if base == "content.xml" and folder.startswith("Object"):
            root = package.xml(name)
            if root is not None:
                found[folder] = root
    return found
