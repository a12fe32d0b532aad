"""Writes small DOCX files: headings, paragraphs, tables, core properties."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.sax.saxutils import escape

from penstock.cli.demo.files.content import Piece, Rows, heading

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def docx(title: str, pieces: Sequence[Piece], *, author: str = "", created: datetime | None = None) -> bytes:
    """A DOCX with the given pieces in order."""
    moment = f"{created or datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    body = "".join(_paragraph(piece) if isinstance(piece, str) else _table(piece) for piece in pieces)
    files = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relations(
            ("officeDocument", _OFFICE, "word/document.xml"),
            ("metadata/core-properties", f"{_PACKAGE}/relationships", "docProps/core.xml"),
        ),
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}<w:sectPr/></w:body></w:document>',
        "word/_rels/document.xml.rels": _relations(("styles", _OFFICE, "styles.xml")),
        "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{"".join(map(_style, range(1, 4)))}</w:styles>',
        "docProps/core.xml": _core(title, author, moment),
    }
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, _HEAD + text)
    return held.getvalue()


def _paragraph(piece: str) -> str:
    level, words = heading(piece)
    style = f'<w:pPr><w:pStyle w:val="Heading{level}"/></w:pPr>' if level else ""
    return f'<w:p>{style}<w:r><w:t xml:space="preserve">{escape(words)}</w:t></w:r></w:p>'


def _table(rows: Rows) -> str:
    grid = "<w:gridCol/>" * max(map(len, rows))
    lines = "".join(
        "<w:tr>" + "".join(f"<w:tc><w:tcPr/>{_paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{lines}</w:tbl>"


def _style(level: int) -> str:
    return (
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:pPr><w:outlineLvl w:val="{level - 1}"/></w:pPr></w:style>'
    )


def _content_types() -> str:
    kinds = {
        "/word/document.xml": f"{_TYPES}.document.main+xml",
        "/word/styles.xml": f"{_TYPES}.styles+xml",
        "/docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
    }
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    parts = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in kinds.items())
    defaults = "".join(
        f'<Default Extension="{ending}" ContentType="{kind}"/>'
        for ending, kind in (("rels", relations), ("xml", "application/xml"))
    )
    return f'<Types xmlns="{_PACKAGE}/content-types">{defaults}{parts}</Types>'


def _relations(*parts: tuple[str, str, str]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{number}" Type="{home}/{kind}" Target="{target}"/>'
        for number, (kind, home, target) in enumerate(parts, start=1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'


def _core(title: str, author: str, moment: str) -> str:
    stamps = "".join(
        f'<dcterms:{name} xsi:type="dcterms:W3CDTF">{moment}</dcterms:{name}>'
        for name in ("created", "modified")
    )
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>{escape(author)}</dc:creator>{stamps}</cp:coreProperties>"
    )
