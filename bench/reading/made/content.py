"""What the generated office documents say, independent of the kind of file it is written into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.reading.truth import Truth

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph, with a word in the middle that is half in italics, and a footnote if it has one."""

    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    text: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; an empty one in the first row is covered by the cell at its left."""

    rows: Rows


@dataclass(frozen=True, slots=True)
class TextBox:
    text: str


Piece = Heading | Words | Item | Table | TextBox
Document = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Slide:
    title: str
    points: tuple[str, ...]
    notes: str = ""
    table: Rows = ()
    boxes: tuple[str, ...] = ()
    """Drawn from right to left, read from left to right."""


Deck = tuple[Slide, ...]
Book = tuple[tuple[str, Rows], ...]
"""Sheets by name; a row of no cells is empty."""

DOCUMENTS: dict[str, Document] = {
    "handbook": (
        Heading(1, "Maintenance handbook"),
        Words("This handbook describes how the turbines of the mill are kept in order.", "Second edition."),
        Heading(2, "Daily inspection"),
        Words("Walk along the shaft and listen for unusual sounds before the gates open."),
        Item("Check the oil level"),
        Item("Note the reading in the log", 1),
        Item("Look for leaks"),
        Heading(3, "Measured values"),
        Table(
            (
                ("Sensor and place", "", "Limit"),
                ("Bearing north", "71 degrees", "85 degrees"),
                ("Bearing south", "68 degrees", "85 degrees"),
            )
        ),
        TextBox("Warning: never reach into the running gear."),
        Heading(2, "Yearly overhaul"),
        Words("The overhaul takes nine days and needs a crane.", "Order the crane in March."),
        Heading(1, "Contacts"),
        Words("Call the control room under extension 4711."),
    ),
    "contract": (
        Heading(1, "Lease of the warehouse"),
        Words("Between Anna Ash, landlady, and Ben Birch, tenant, the following is agreed."),
        Heading(2, "1. Subject"),
        Words("The warehouse at Harbour Road 12 with 840 square metres | two gates # and a ramp."),
        Heading(2, "2. Rent"),
        Table(
            (
                ("Year", "Rent", "Deposit"),
                ("2025", "12 400", "24 800"),
                ("2026", "12 900", "none"),
            )
        ),
        Heading(3, "2.1 Adjustment"),
        Words("The rent follows the index of prices as snake_case 5 * 3 published in June."),
        Item("in writing"),
        Item("four weeks in advance"),
        Heading(2, "3. Languages: שפות"),
        Words("החוזה נחתם בשתי לשונות ושני הנוסחים מחייבים"),
        Words("העותק נשמר אצל הנוטריון", "Kept for ten years."),
    ),
    "report": (
        Heading(1, "Expedition report"),
        Heading(2, "Summary"),
        Words("Übergrößen, naïve façades and señores: the team crossed the glacier in eleven days."),
        Heading(2, "Route"),
        Heading(3, "Ascent"),
        Words("Camp one was pitched at 4200 metres, below the ice fall."),
        Heading(3, "Descent"),
        Words("The descent followed the eastern ridge."),
        TextBox("Photograph: the summit at dawn"),
        Heading(2, "Supplies"),
        Table(
            (("Goods", "Planned", "Used"), ("Fuel", "40", "37"), ("Rice", "25", "26"), ("Rope", "120", "120"))
        ),
        Heading(1, "Финансы"),
        Words("Расходы составили двенадцать тысяч рублей и были покрыты фондом."),
    ),
}

DECKS: dict[str, Deck] = {
    "kickoff": (
        Slide("Project kickoff", ("Goals and people",), notes="Greet everybody by name."),
        Slide(
            "Milestones",
            ("Design until May", "Prototype in August"),
            table=(("Step", "Owner"), ("Design", "Mia")),
        ),
        Slide("Risks", (), boxes=("Late parts", "Few testers"), notes="Ask for more testers."),
    ),
    "results": (
        Slide("Quarterly results", ("Revenue grew by nine percent",)),
        Slide(
            "Regions",
            (),
            table=(
                ("Region and share", "", "Growth"),
                ("North", "41 percent", "up"),
                ("South", "59 percent", "down"),
            ),
        ),
        Slide("Outlook תחזית", ("הרבעון הבא יהיה קשה",), notes="Mention the new factory."),
    ),
    "training": (
        Slide("Fire drill", ("Leave by the stairs", "Meet at the gate"), notes="Show the map on the wall."),
        Slide(
            "First aid",
            ("Call extension 112",),
            boxes=("Kit in the hall", "Kit in the kitchen", "Kit upstairs"),
        ),
        Slide("Questions", ("Write to safety",)),
    ),
}

BOOKS: dict[str, Book] = {
    "stock": (
        ("Stock", (("Article", "Place", "Count"), ("Bolt M8", "A4", "1200"), ("Nut M8", "A5", "980"))),
        (
            "Orders",
            (
                ("Number", "Supplier"),
                ("2025-17", "Ironworks"),
                (),
                ("Second list", "Carrier"),
                ("77", "Rail"),
            ),
        ),
    ),
    "figures": (
        (
            "Summary",
            (("Figures of the year", "", ""), (), ("Month", "Income", "Cost"), ("May", "81", "64.5")),
        ),
        ("מדדים", (("מדד", "ערך"), ("אחת", "17"))),
    ),
    "people": (
        ("Staff", (("Name", "Room", "Since"), ("Mia Moss", "12", "2019"), ("Ole Oak", "14", "2021"))),
    ),
}


def truth_of_document(path: Path, kind: str, document: Document) -> Truth:
    text: list[str] = []
    notes: list[str] = []
    tables: list[Rows] = []
    order: list[str] = []
    for piece in document:
        if isinstance(piece, Table):
            tables.append(piece.rows)
            text += (" ".join(row) for row in piece.rows)
        else:
            text.append(piece.text)
            order.append(piece.text)
        if isinstance(piece, Words) and piece.note:
            notes.append(piece.note)
    return Truth(path, kind, "\n".join(text + notes), tuple(tables), tuple(_paths(document)), tuple(order))


def _paths(document: Iterable[Piece]) -> Iterable[tuple[str, ...]]:
    above: list[Heading] = []
    for piece in document:
        if isinstance(piece, Heading):
            above = [*(one for one in above if one.level < piece.level), piece]
            yield tuple(one.text for one in above)


def truth_of_deck(path: Path, kind: str, deck: Deck) -> Truth:
    text: list[str] = []
    order: list[str] = []
    for slide in deck:
        order += (slide.title, *slide.points, *slide.boxes)
        text += (
            slide.title,
            *slide.points,
            *slide.boxes,
            *(" ".join(row) for row in slide.table),
            slide.notes,
        )
    tables = tuple(slide.table for slide in deck if slide.table)
    return Truth(path, kind, "\n".join(text), tables, tuple((slide.title,) for slide in deck), tuple(order))


def truth_of_book(path: Path, kind: str, book: Book) -> Truth:
    rows = [row for _, sheet in book for row in sheet]
    text = "\n".join([*(name for name, _ in book), *(" ".join(row) for row in rows)])
    tables = tuple(sheet for _, sheet in book)
    return Truth(path, kind, text, tables, tuple((name,) for name, _ in book))
