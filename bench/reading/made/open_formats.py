"""Generates ODT, ODS, ODP, EPUB and RTF."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from bench.reading.made.content import (
    BOOKS,
    DECKS,
    DOCUMENTS,
    Book,
    Deck,
    Document,
    Heading,
    Item,
    Rows,
    Table,
    Words,
    truth_of_book,
    truth_of_deck,
    truth_of_document,
)
from bench.reading.made.web import html_of
from bench.reading.truth import Truth

_NAMES = ("office", "text", "table", "draw", "presentation", "style", "meta")
_SPACES = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in _NAMES)
_SVG = 'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'


def make(folder: Path) -> list[Truth]:
    made = []
    for name, document in DOCUMENTS.items():
        for kind, write in (("odt", write_odt), ("rtf", write_rtf), ("epub", write_epub)):
            write(document, folder / f"{name}.{kind}")
            made.append(truth_of_document(folder / f"{name}.{kind}", kind, document))
    for name, deck in DECKS.items():
        write_odp(deck, folder / f"{name}.odp")
        made.append(truth_of_deck(folder / f"{name}.odp", "odp", deck))
    for name, book in BOOKS.items():
        write_ods(book, folder / f"{name}.ods")
        made.append(truth_of_book(folder / f"{name}.ods", "ods", book))
    return made


def write_odt(document: Document, path: Path) -> None:
    _write_open_document(path, "text", "".join(_odt_parts(document)))


def _odt_parts(document: Document) -> list[str]:
    parts = []
    notes = 0
    for piece in document:
        if isinstance(piece, Heading):
            parts.append(f'<text:h text:outline-level="{piece.level}">{escape(piece.text)}</text:h>')
        elif isinstance(piece, Words):
            half = len(piece.text) // 2
            note = ""
            if piece.note:
                notes += 1
                note = (
                    f'<text:note text:note-class="footnote"><text:note-citation>{notes}</text:note-citation>'
                    f"<text:note-body><text:p>{escape(piece.note)}</text:p></text:note-body></text:note>"
                )
            first, middle, last = piece.text[:half], piece.text[half : half + 2], piece.text[half + 2 :]
            parts.append(
                f"<text:p>{escape(first)}<text:span>{escape(middle)}</text:span>{escape(last)}{note}</text:p>"
            )
        elif isinstance(piece, Item):
            inside = f"<text:p>{escape(piece.text)}</text:p>"
            for _ in range(piece.depth + 1):
                inside = f"<text:list><text:list-item>{inside}</text:list-item></text:list>"
            parts.append(inside)
        elif isinstance(piece, Table):
            parts.append(_table(piece.rows, "T"))
        else:
            box = f"<draw:text-box><text:p>{escape(piece.text)}</text:p></draw:text-box>"
            parts.append(f"<text:p><draw:frame>{box}</draw:frame></text:p>")
    return parts


def _table(rows: Rows, name: str) -> str:
    lines = []
    for row in rows:
        cells = []
        for at, cell in enumerate(row):
            if not cell and at:
                cells.append("<table:covered-table-cell/>")
                continue
            span = next((end for end in range(at + 1, len(row)) if row[end]), len(row)) - at
            spanned = f' table:number-columns-spanned="{span}"' if span > 1 else ""
            cells.append(f"<table:table-cell{spanned}><text:p>{escape(cell)}</text:p></table:table-cell>")
        lines.append(f"<table:table-row>{''.join(cells) or '<table:table-cell/>'}</table:table-row>")
    column = f'<table:table-column table:number-columns-repeated="{max(map(len, rows))}"/>'
    return f"<table:table table:name={quoteattr(name)}>{column}{''.join(lines)}</table:table>"


def write_ods(book: Book, path: Path) -> None:
    _write_open_document(path, "spreadsheet", "".join(_table(rows, name) for name, rows in book))


def write_odp(deck: Deck, path: Path) -> None:
    pages = []
    for number, slide in enumerate(deck, start=1):
        parts = [_frame(slide.title, "title")]
        parts += (
            f"<draw:g>{_frame(text, '', x=1 + 8 * place, y=12)}</draw:g>"
            for place, text in reversed(list(enumerate(slide.boxes)))
        )
        if slide.points:
            parts.append(_frame("\n".join(slide.points), "outline"))
        if slide.table:
            parts.append(f"<draw:frame>{_table(slide.table, 'T')}</draw:frame>")
        if slide.notes:
            parts.append(f"<presentation:notes>{_frame(slide.notes, 'notes')}</presentation:notes>")
        pages.append(f'<draw:page draw:name="page{number}">{"".join(parts)}</draw:page>')
    _write_open_document(path, "presentation", "".join(pages))


def _frame(text: str, kind: str, *, x: int = 1, y: int = 1) -> str:
    paragraphs = "".join(f"<text:p>{escape(line)}</text:p>" for line in text.split("\n"))
    shown = f' presentation:class="{kind}"' if kind else ""
    y = {"title": 1, "outline": 4}.get(kind, y)
    place = f'svg:x="{x}cm" svg:y="{y}cm" svg:width="6cm" svg:height="1.5cm"'
    return f"<draw:frame{shown} {place}><draw:text-box>{paragraphs}</draw:text-box></draw:frame>"


def _write_open_document(path: Path, kind: str, body: str) -> None:
    mime_type = f"application/vnd.oasis.opendocument.{kind}"
    content = (
        f'<office:document-content {_SPACES} {_SVG} office:version="1.2"><office:body><office:{kind}>{body}'
        f"</office:{kind}></office:body></office:document-content>"
    )
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{mime_type}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        "</manifest:manifest>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", mime_type, zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)


def write_epub(document: Document, path: Path) -> None:
    """A chapter per heading of the first level, each in a file of its own."""
    starts = [at for at, piece in enumerate(document) if isinstance(piece, Heading) and piece.level == 1]
    ends = [*starts[1:], len(document)]
    chapters = [document[start:end] for start, end in zip(starts, ends, strict=True)]
    items = "".join(
        f'<item id="c{at}" href="c{at}.xhtml" media-type="application/xhtml+xml"/>'
        for at in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("OEBPS/book.opf", book)
        for at, chapter in enumerate(chapters):
            archive.writestr(f"OEBPS/c{at}.xhtml", html_of(chapter))


def write_rtf(document: Document, path: Path) -> None:
    styles = "".join(f"{{\\s{level}\\outlinelevel{level - 1} heading {level};}}" for level in (1, 2, 3))
    parts = [
        "{\\rtf1\\ansi\\ansicpg1252\\uc1{\\fonttbl{\\f0\\fcharset0 Arial;}}",
        f"{{\\stylesheet{{\\s0 Normal;}}{styles}}}{{\\header Page header\\par}}\n",
    ]
    for piece in document:
        if isinstance(piece, Heading):
            parts.append(f"\\pard\\s{piece.level}\\b {_rtf(piece.text)}\\b0\\par\n")
        elif isinstance(piece, Words):
            note = f"{{\\super\\chftn{{\\footnote\\pard {_rtf(piece.note)}}}}}" if piece.note else ""
            half = len(piece.text) // 2
            first, middle, last = piece.text[:half], piece.text[half : half + 2], piece.text[half + 2 :]
            parts.append(f"\\pard {_rtf(first)}{{\\i {_rtf(middle)}}}{_rtf(last)}{note}\\par\n")
        elif isinstance(piece, Item):
            parts.append(f"\\pard{{\\listtext\\'b7\\tab}}\\ilvl{piece.depth} {_rtf(piece.text)}\\par\n")
        elif isinstance(piece, Table):
            for row in piece.rows:
                cells = "".join(f"{_rtf(cell)}\\cell " for cell in row)
                sizes = "".join(f"\\cellx{2_000 * (at + 1)}" for at in range(len(row)))
                parts.append(f"\\trowd{sizes}\\pard\\intbl {cells}\\row\n")
        else:
            box = f"{{\\shp{{\\*\\shpinst\\shpleft0{{\\shptxt\\pard {_rtf(piece.text)}\\par}}}}}}"
            parts.append(f"\\pard {box}\\par\n")
    path.write_bytes(("".join(parts) + "}").encode("ascii"))


def _rtf(text: str) -> str:
    said = []
    for character in text:
        if character in "\\{}":
            said.append("\\" + character)
        elif character.isascii():
            said.append(character)
        elif ord(character) < 256:
            said.append(f"\\'{ord(character):02x}")
        else:
            said.append(f"\\u{ord(character)}?")
    return "".join(said)
