"""Opens office files that are zip archives of XML parts."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from xml.etree import ElementTree as ET

from penstock.pipeline.parse import guards
from penstock.pipeline.reasons import Reason, rejected

Element = ET.Element


class Package:
    """The parts of an office file by name; use it as a context manager."""

    def __init__(self, path: Path) -> None:
        guards.check_office(path)
        self._archive = zipfile.ZipFile(path)
        self.names = frozenset(self._archive.namelist())

    def __enter__(self) -> Package:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._archive.close()

    def data(self, name: str) -> bytes | None:
        """The bytes of a part; None if there is none of that name."""
        if name not in self.names:
            return None
        try:
            return self._archive.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise rejected(Reason.MALFORMED, f"the part {name} is damaged: {error}") from error

    def xml(self, name: str) -> Element | None:
        """The root element of a part; None if there is none of that name."""
        data = self.data(name)
        return None if data is None else parsed_xml(data, name)

    def required(self, name: str) -> Element:
        root = self.xml(name)
        if root is None:
            raise rejected(Reason.MALFORMED, f"the part {name} is missing")
        return root

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """The relationships of an OOXML part: id to kind (the last word of its type) and target's name."""
        folder, _, base = name.rpartition("/")
        root = self.xml(f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels")
        found: dict[str, tuple[str, str]] = {}
        for one in root if root is not None else ():
            if one.get("TargetMode") == "External":
                continue
            target = one.get("Target", "")
            whole = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
            kind = one.get("Type", "").rpartition("/")[2]
            found[one.get("Id", "")] = (kind, posixpath.normpath(whole))
        return found


_ENTITIES = tuple("<!ENTITY".encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))


def without_entities(data: bytes, name: str) -> bytes:
    """The data, if it declares no entities: office files have none, and attacks grow by them."""
    if any(sign in data for sign in _ENTITIES):
        raise rejected(Reason.BOMB, f"the part {name} declares entities of its own")
    return data


def parsed_xml(data: bytes, name: str) -> Element:
    try:
        return ET.fromstring(without_entities(data, name))  # noqa: S314  # no entities, so nothing grows
    except (ET.ParseError, LookupError, ValueError) as error:
        raise rejected(Reason.MALFORMED, f"the part {name} is not valid XML: {error}") from error


def local(element: Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element, name: str) -> str | None:
    """An attribute by its name without namespace."""
    found = element.get(name)
    if found is not None:
        return found
    ending = "}" + name
    return next((value for key, value in element.attrib.items() if key.endswith(ending)), None)


def number(element: Element, name: str, default: int = 0) -> int:
    """A whole number in an attribute; the default if there is none, or something else."""
    said = attribute(element, name) or ""
    bare = said.removeprefix("-")
    return int(said) if bare.isascii() and bare.isdecimal() and len(bare) < 19 else default


def child(element: Element | None, *names: str) -> Element | None:
    """The element at the end of this path of names without namespaces."""
    for name in names:
        if element is None:
            return None
        element = next((one for one in element if local(one) == name), None)
    return element


def inner(element: Element | None, *names: str) -> Iterable[Element]:
    """The children of the element at the end of this path; none if there is no such element."""
    found = child(element, *names)
    return found if found is not None else ()


def all_of(element: Element, name: str) -> Iterator[Element]:
    """All descendants of this name, in order."""
    return (one for one in element.iter() if local(one) == name)


def words_of(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""
