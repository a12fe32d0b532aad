"""Writes files that are packages of others: XLSX, PPTX, OpenDocument, EPUB, ZIP and TAR."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

_OFFICE = "http://schemas.openxmlformats.org"
_RELATED = f"{_OFFICE}/package/2006/relationships"
_RELATION = f"{_OFFICE}/officeDocument/2006/relationships"
_SHEET = f'xmlns="{_OFFICE}/spreadsheetml/2006/main" xmlns:r="{_RELATION}"'
_SLIDE = (
    f'xmlns:p="{_OFFICE}/presentationml/2006/main" xmlns:a="{_OFFICE}/drawingml/2006/main" '
    f'xmlns:r="{_RELATION}"'
)
_NAMES = ("office", "text", "table", "draw", "presentation", "style", "meta")
_OPEN = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in _NAMES)
_SVG = 'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
_CONTAINER = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'


def zipped(files: Mapping[str, str]) -> bytes:
    """Nothing is compressed, so that the size of the file is that of what is in it."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


def tarred(files: Mapping[str, str]) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))
    return held.getvalue()


def workbook(rows: str, strings: Sequence[str] = ()) -> bytes:
    """An XLSX of one sheet with these `<row>`s; a cell of type `s` is the number of one of the strings."""
    shared = "".join(f"<si><t>{each}</t></si>" for each in strings)
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types"/>',
            "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": f"<workbook {_SHEET}><sheets>"
            '<sheet name="Stock" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _relations(
                [("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")]
            ),
            "xl/worksheets/sheet1.xml": f"<worksheet {_SHEET}><sheetData>{rows}</sheetData></worksheet>",
            "xl/sharedStrings.xml": f"<sst {_SHEET}>{shared}</sst>",
        }
    )


def deck(slides: Sequence[str]) -> bytes:
    """A PPTX; each slide is the shapes on it."""
    numbers = range(1, len(slides) + 1)
    listed = "".join(f'<p:sldId id="{255 + at}" r:id="r{at}"/>' for at in numbers)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types"/>',
        "_rels/.rels": _relations([("officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": f"<p:presentation {_SLIDE}>"
        f"<p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations([("slide", f"slides/slide{at}.xml") for at in numbers]),
    }
    return zipped(
        parts
        | {
            f"ppt/slides/slide{at}.xml": f"<p:sld {_SLIDE}>"
            f"<p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>"
            for at, slide in enumerate(slides, start=1)
        }
    )


def text_box(paragraphs: Iterable[str], *, place: int = 0, is_title: bool = False) -> str:
    """A shape of a slide, below those with a lower place."""
    said = "".join(f"<a:p><a:r><a:t>{each}</a:t></a:r></a:p>" for each in paragraphs)
    kind = '<p:nvPr><p:ph type="title"/></p:nvPr>' if is_title else "<p:nvPr/>"
    where = f'<a:xfrm><a:off x="0" y="{place}"/><a:ext cx="9" cy="9"/></a:xfrm>'
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{place + 2}" name="a"/><p:cNvSpPr/>{kind}</p:nvSpPr>'
        f"<p:spPr>{where}</p:spPr><p:txBody>{said}</p:txBody></p:sp>"
    )


def open_document(kind: Literal["text", "spreadsheet", "presentation"], body: str) -> bytes:
    """An ODT, ODS or ODP with this inside its body."""
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f'<office:document-content {_OPEN} {_SVG} office:version="1.2"><office:body>'
            f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        }
    )


def book(chapters: Sequence[str]) -> bytes:
    """An EPUB; each chapter is a page of HTML."""
    items = "".join(
        f'<item id="c{at}" href="c{at}.html" media-type="application/xhtml+xml"/>'
        for at in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "b.opf": f"<package><metadata/><manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    return zipped(parts | {f"c{at}.html": chapter for at, chapter in enumerate(chapters)})


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="r{at}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_RELATED}">{listed}</Relationships>'
