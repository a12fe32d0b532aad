"""Generates DOCX, PPTX and XLSX, and unpacks DOC, PPT and XLS that LibreOffice made of them once."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import docx
import openpyxl  # type: ignore[import-untyped]  # no types are installed
import pptx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pptx.util import Inches

from bench.reading.made.content import (
    BOOKS,
    DECKS,
    DOCUMENTS,
    Book,
    Deck,
    Document,
    Heading,
    Item,
    Slide,
    Table,
    TextBox,
    Words,
    truth_of_book,
    truth_of_deck,
    truth_of_document,
)
from bench.reading.truth import Truth

OLD = Path(__file__).parent / "old_office.zip"
"""The same documents as DOC, PPT and XLS, named as the others; converted by LibreOffice 7.4."""
_TITLE_AND_CONTENT, _TITLE_ONLY = 1, 5


def make(folder: Path) -> list[Truth]:
    made = []
    with zipfile.ZipFile(OLD) as old:
        for name, document in DOCUMENTS.items():
            write_docx(document, folder / f"{name}.docx")
            (folder / f"{name}.doc").write_bytes(old.read(f"{name}.doc"))
            made += [truth_of_document(folder / f"{name}.{kind}", kind, document) for kind in ("docx", "doc")]
        for name, deck in DECKS.items():
            write_pptx(deck, folder / f"{name}.pptx")
            (folder / f"{name}.ppt").write_bytes(old.read(f"{name}.ppt"))
            made += [truth_of_deck(folder / f"{name}.{kind}", kind, deck) for kind in ("pptx", "ppt")]
        for name, book in BOOKS.items():
            write_xlsx(book, folder / f"{name}.xlsx")
            (folder / f"{name}.xls").write_bytes(old.read(f"{name}.xls"))
            made += [truth_of_book(folder / f"{name}.{kind}", kind, book) for kind in ("xlsx", "xls")]
    return made


def write_docx(document: Document, path: Path) -> None:
    made = docx.Document()
    notes: list[str] = []
    for piece in document:
        if isinstance(piece, Heading):
            made.add_heading(piece.text, piece.level)
        elif isinstance(piece, Words):
            half = len(piece.text) // 2
            paragraph = made.add_paragraph(piece.text[:half])
            paragraph.add_run(piece.text[half : half + 2]).italic = True
            paragraph.add_run(piece.text[half + 2 :])
            if piece.note:
                notes.append(piece.note)
        elif isinstance(piece, Item):
            made.add_paragraph(piece.text, style="List Bullet 2" if piece.depth else "List Bullet")
        elif isinstance(piece, Table):
            table = made.add_table(len(piece.rows), len(piece.rows[0]))
            _fill(table, piece.rows)
        elif isinstance(piece, TextBox):
            made.element.body.insert(len(made.element.body) - 1, parse_xml(_text_box(piece.text)))
    for note in notes:  # python-docx writes no footnotes
        made.add_paragraph(note)
    made.sections[0].header.paragraphs[0].text = "Page header"
    made.save(str(path))


def _fill(table: Any, rows: tuple[tuple[str, ...], ...]) -> None:
    for at, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell:
                table.cell(at, column).text = cell
            else:
                table.cell(at, column - 1).merge(table.cell(at, column))


def _text_box(text: str) -> str:
    """A text box as Word writes it: for new programs, and once more for old ones."""
    inside = f"<w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent>"
    office = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
    return (
        f'<w:p {nsdecls("w", "wp", "a")} xmlns:wps="{office}" xmlns:v="urn:schemas-microsoft-com:vml"'
        ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:r><mc:AlternateContent>'
        '<mc:Choice Requires="wps"><w:drawing><wp:inline><wp:extent cx="2000000" cy="500000"/>'
        f'<wp:docPr id="9" name="Box"/><a:graphic><a:graphicData uri="{office}"><wps:wsp>'
        '<wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="2000000" cy="500000"/>'
        '</a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr>'
        f"<wps:txbx>{inside}</wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline>"
        f"</w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{inside}</v:textbox></v:shape>"
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )


def write_pptx(deck: Deck, path: Path) -> None:
    made = pptx.Presentation()
    for slide in deck:
        _add_slide(made, slide)
    made.save(str(path))


def _add_slide(made: Any, slide: Slide) -> None:
    layout = _TITLE_AND_CONTENT if slide.points else _TITLE_ONLY
    added = made.slides.add_slide(made.slide_layouts[layout])
    added.shapes.title.text = slide.title
    if slide.points:
        added.placeholders[1].text_frame.text = slide.points[0]
        for point in slide.points[1:]:
            added.placeholders[1].text_frame.add_paragraph().text = point
    for place, text in reversed(list(enumerate(slide.boxes))):
        group = added.shapes.add_group_shape() if place % 2 else added
        box = group.shapes.add_textbox(Inches(0.5 + 3 * place), Inches(5), Inches(2.5), Inches(0.6))
        box.text_frame.text = text
    if slide.table:
        size = (len(slide.table), len(slide.table[0]))
        frame = added.shapes.add_table(*size, Inches(1), Inches(5), Inches(7), Inches(1.5))
        _fill(frame.table, slide.table)
    if slide.notes:
        added.notes_slide.notes_text_frame.text = slide.notes


def write_xlsx(book: Book, path: Path) -> None:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in book:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append([_value(cell) for cell in row])
        for at, row in enumerate(rows, start=1):
            if len(row) > 1 and not any(row[1:]):
                sheet.merge_cells(start_row=at, end_row=at, start_column=1, end_column=len(row))
    made.create_sheet("Hidden").append(["not", "shown"])
    made["Hidden"].sheet_state = "hidden"
    made.save(str(path))


def _value(cell: str) -> str | float | None:
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell or None
