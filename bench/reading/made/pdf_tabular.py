"""Generates PDF files with tables and forms: ruled, open, without lines, beside text, in an invoice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.styles import getSampleStyleSheet  # type: ignore[import-untyped]
from reportlab.lib.utils import simpleSplit  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table  # type: ignore[import-untyped]

from bench.reading.made.pdf_drawing import TOP, by_word, drawn_lines, wrapped
from bench.reading.made.pdf_texts import FIGURES, PEOPLE, Sentences, marks
from bench.reading.truth import Truth


def ruled(path: Path) -> Truth:
    """A table with all its lines, between paragraphs; one cell has two lines."""
    say, sheet = Sentences(5), getSampleStyleSheet()
    before, after = say.paragraph(), say.paragraph()
    rows = (*FIGURES, ("Whole year", "5,427,581", "3,434,512", "1,993,069 (see the notes)"))
    cells = [[Paragraph(cell, sheet["Normal"]) for cell in row] for row in rows]
    table = Table(cells, colWidths=[90, 90, 90, 90], style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
    SimpleDocTemplate(str(path)).build(
        [
            Paragraph("Figures", sheet["Heading1"]),
            Paragraph(before, sheet["Normal"]),
            table,
            Paragraph(after, sheet["Normal"]),
        ]
    )
    text = "\n".join(["Figures", before, *map(" ".join, rows), after])
    return Truth(path, "pdf", text, (rows,), (("Figures",),), (*marks(before), "Q1 2025", *marks(after)))


def open_sided(path: Path) -> Truth:
    """A table with lines between rows and columns but not around it, its cells drawn column by column."""
    say, page = Sentences(6), Canvas(str(path))
    before = say.paragraph()
    page.setFont("Helvetica", 10)
    y = drawn_lines(page, 72, TOP, 450, [before])
    xs, top, high = (72, 200, 330), y - 10, 20
    for column, x in enumerate(xs):
        for number, row in enumerate(PEOPLE):
            page.drawString(x + 5, top - high * number - 14, row[column])
    for x in xs[1:]:
        page.line(x, top, x, top - high * len(PEOPLE))
    for number in range(1, len(PEOPLE)):
        page.line(72, top - high * number, 450, top - high * number)
    page.save()
    text = "\n".join([before, *map(" ".join, PEOPLE)])
    return Truth(path, "pdf", text, (PEOPLE,), order=(*marks(before), "Anna Ash", "Ed Elder"))


def borderless(path: Path) -> Truth:
    """Two tables without lines, one with figures to the right, drawn word by word from the bottom."""
    say, page = Sentences(7), Canvas(str(path))
    first, second = say.paragraph(), say.paragraph()
    page.setFont("Times-Roman", 11)
    y = drawn_lines(page, 72, TOP, 450, [first], size=11)
    drawn = [(72.0, y - 10, PEOPLE, False), (72.0, y - 160, FIGURES, True)]
    for x, top, rows, numbers in reversed(drawn):
        for number, row in reversed(list(enumerate(rows))):
            for column, cell in enumerate(row):
                if numbers and column:
                    page.drawRightString(x + 90 + 100 * column, top - 16 * number, cell)
                else:
                    by_word(page, x + 140 * column, top - 16 * number, cell, "Times-Roman", 11)
    drawn_lines(page, 72, y - 270, 450, [second], size=11)
    page.save()
    text = "\n".join([first, *map(" ".join, (*PEOPLE, *FIGURES)), second])
    order = (*marks(first), "Anna Ash", "Q1 2025", *marks(second))
    return Truth(path, "pdf", text, (PEOPLE, FIGURES), order=order)


def long_cells(path: Path) -> Truth:
    """A table without lines whose descriptions take several lines."""
    page = Canvas(str(path))
    rows = (
        ("Item", "Description", "Price"),
        ("A-17", "Oak beam for the upper gate, planed on four sides and oiled twice", "1,250.00"),
        ("B-02", "Copper rivets", "18.40"),
        ("C-44", "Canvas cover for the wheel house with brass eyes along three of its edges", "310.00"),
        ("D-08", "Rope of hemp, tarred, in lengths of forty metres each", "96.20"),
    )
    page.setFont("Helvetica-Bold", 16)
    page.drawString(72, TOP, "Offer of the Carpenter")
    y = TOP - 40
    page.setFont("Helvetica", 10)
    for item, said, price in rows:
        page.drawString(72, y, item)
        page.drawRightString(480, y, price)
        for line in simpleSplit(said, "Helvetica", 10, 200):
            page.drawString(150, y, line)
            y -= 12
        y -= 8
    page.save()
    text = "\n".join(["Offer of the Carpenter", *map(" ".join, rows)])
    order = ("Offer of the Carpenter", *(row[0] for row in rows[1:]))
    return Truth(path, "pdf", text, (rows,), (("Offer of the Carpenter",),), order)


def table_beside_prose(path: Path) -> Truth:
    """A column of text with a small table at its right."""
    say, page = Sentences(8), Canvas(str(path))
    paragraphs = say.paragraphs(3)
    page.setFont("Helvetica", 10)
    for number, row in enumerate(PEOPLE):
        for x, cell in zip((330, 410, 480), row, strict=True):
            page.drawString(x, TOP - 40 - 15 * number, cell)
    drawn_lines(page, 60, TOP, 230, paragraphs)
    page.save()
    text = "\n".join([*paragraphs, *map(" ".join, PEOPLE)])
    return Truth(path, "pdf", text, (PEOPLE,), order=(*marks(*paragraphs), "Anna Ash", "Ed Elder"))


def sideways_table(path: Path) -> Truth:
    """A wide table drawn sideways on an upright page, as in theses."""
    page = Canvas(str(path))
    page.rotate(90)
    page.setFont("Helvetica", 11)
    page.drawString(80, -80, "Results of all quarters, printed across the sheet")
    for number, row in enumerate(FIGURES):
        for column, cell in enumerate(row):
            page.drawString(80 + 150 * column, -120 - 22 * number, cell)
    page.save()
    text = "\n".join(["Results of all quarters, printed across the sheet", *map(" ".join, FIGURES)])
    return Truth(path, "pdf", text, (FIGURES,), order=("Results of all quarters", "Q1 2025", "Q4 2025"))


def form(path: Path) -> Truth:
    """A form with filled fields."""
    page = Canvas(str(path))
    page.setFont("Helvetica-Bold", 16)
    page.drawString(72, TOP, "Application for a Mooring")
    rows = (("Name:", "Dorothea Elm"), ("Vessel:", "Northern Star"), ("Length:", "17 metres"))
    page.setFont("Helvetica", 11)
    for at, (label, value) in enumerate(rows):
        y = TOP - 50 - 32 * at
        page.drawString(72, y, label)
        page.acroForm.textfield(name=f"field{at}", x=160, y=y - 6, width=220, height=20, value=value)
    page.drawString(72, TOP - 160, "Insured")
    page.acroForm.checkbox(name="insured", x=160, y=TOP - 164, size=16, checked=True)
    page.drawString(72, TOP - 200, "Please return this form to the harbour office before the first of May.")
    page.save()
    text = "\n".join(
        [
            "Application for a Mooring",
            *map(" ".join, rows),
            "Insured",
            "Please return this form to the harbour",
        ]
    )
    order = ("Application for a Mooring", "Dorothea Elm", "Vessel", "Northern Star", "Please return")
    return Truth(path, "pdf", text, (rows,), (("Application for a Mooring",),), order)


def invoice(path: Path) -> Truth:
    """Two addresses side by side, a table of positions, and totals."""
    page = Canvas(str(path))
    page.setFont("Helvetica-Bold", 22)
    page.drawString(72, TOP, "Invoice")
    page.setFont("Helvetica", 10)
    seller = ("Alder and Sons", "14 Mill Lane", "Winterbourne", "United Kingdom")
    buyer = ("Bill to Beech Trading", "9 Quay Street", "Bristol", "Customer 4711")
    for x, lines in ((72, seller), (330, buyer)):
        for at, line in enumerate(lines):
            page.drawString(x, TOP - 40 - 13 * at, line)
    rows = (
        ("Pos", "Article", "Qty", "Price", "Amount"),
        ("1", "Sluice gate", "2", "410.00", "820.00"),
        ("2", "Wheel bearing", "4", "55.50", "222.00"),
        ("3", "Installation on site", "1", "390.00", "390.00"),
    )
    y = TOP - 130
    for row in rows:
        for x, cell in zip((72, 110, 300, 360, 440), row, strict=True):
            page.drawString(x, y, cell)
        y -= 18
    totals = (("Net", "1,432.00"), ("VAT 20 %", "286.40"), ("Total", "1,718.40"))
    for label, value in totals:
        page.drawString(360, y, label)
        page.drawString(440, y, value)
        y -= 18
    page.drawString(72, y - 20, "Payable within thirty days to the account named above.")
    page.save()
    text = "\n".join(
        ["Invoice", *seller, *buyer, *map(" ".join, (*rows, *totals)), "Payable within thirty days"]
    )
    order: tuple[str, ...] = ("Invoice", "14 Mill Lane", "Winterbourne", "Bill to Beech Trading")
    order += (
        "9 Quay Street",
        "Bristol",
        "Sluice gate",
        "Installation on site",
        "Net",
        "Total",
        "Payable within thirty days",
    )
    return Truth(path, "pdf", text, (rows, totals), (("Invoice",),), order)


def filing(path: Path) -> Truth:
    """An annual filing: bold headings of the text's size, and a statement with a heading over two columns."""
    say, page = Sentences(12), Canvas(str(path))
    first, second = say.paragraph(), say.paragraph()
    page.setFont("Times-Bold", 10)
    page.drawString(72, TOP, "Item 1. Business")
    page.setFont("Times-Roman", 10)
    y = drawn_lines(page, 72, TOP - 20, 450, [first])
    page.setFont("Times-Bold", 10)
    page.drawString(72, y - 10, "Item 7. Results of Operations")
    page.setFont("Times-Roman", 10)
    y = drawn_lines(page, 72, y - 30, 450, [second]) - 12
    page.drawCentredString(420, y, "Year ended December 31,")
    rows = (
        ("", "2024", "2023"),
        ("Net sales", "391,035", "383,285"),
        ("Cost of sales", "210,352", "214,137"),
        ("Gross margin", "180,683", "169,148"),
        ("Operating expenses", "57,467", "54,847"),
        ("Operating income", "123,216", "114,301"),
    )
    for label, new, old in rows:
        y -= 14
        page.drawString(72, y, label)
        for x, value in ((400, new), (480, old)):
            if label in ("Net sales", "Operating income"):
                page.drawString(x - 55, y, "$")
            page.drawRightString(x, y, value)
    page.save()
    text = "\n".join(
        [
            "Item 1. Business",
            first,
            "Item 7. Results of Operations",
            second,
            "Year ended December 31,",
            *list(map(" ".join, rows)),
        ]
    )
    paths = (("Item 1. Business",), ("Item 7. Results of Operations",))
    order = (*marks(first), "Item 7. Results", *marks(second), "Net sales", "Operating income")
    return Truth(path, "pdf", text, (rows,), paths, order)


def mixed(path: Path) -> Truth:
    """A title, two columns, a table over both, two columns again; all lines drawn in random order."""
    say, page = Sentences(14), Canvas(str(path))
    parts = [say.paragraphs(2) for _ in range(4)]
    approved = "The table above was approved by all members who were present on that day."
    calls: list[tuple[float, float, str, str, float]] = [(60, TOP, "Minutes of the Board", "Times-Bold", 18)]

    def two_columns(top: float, pair: Sequence[list[str]]) -> float:
        ends = []
        for x, paragraphs in zip((60, 310), pair, strict=True):
            lines = wrapped(paragraphs, 225, "Times-Roman", 10)
            calls.extend((x, top - 12 * at, line, "Times-Roman", 10) for at, line in enumerate(lines))
            ends.append(top - 12 * len(lines))
        return min(ends) - 14

    y = two_columns(TOP - 40, parts[:2])
    for row in FIGURES:
        calls += [(90 + 120 * column, y, cell, "Times-Roman", 10) for column, cell in enumerate(row)]
        y -= 15
    calls.append((60, y - 12, approved, "Times-Roman", 10))
    two_columns(y - 38, parts[2:])
    random.Random(14).shuffle(calls)
    for x, at, words, font, size in calls:
        page.setFont(font, size)
        page.drawString(x, at, words)
    page.save()
    every = [paragraph for part in parts for paragraph in part]
    text = ["Minutes of the Board", *every, *map(" ".join, FIGURES)]
    text.append(approved)
    order = (
        "Minutes of the Board",
        *marks(*parts[0], *parts[1]),
        "Q1 2025",
        "Q4 2025",
        "The table above was",
    )
    order += marks(*parts[2], *parts[3])
    return Truth(path, "pdf", "\n".join(text), (FIGURES,), (("Minutes of the Board",),), order)
