"""The demo's documents: files of a fictional mill, in the formats an office uses."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from penstock.cli.demo.files import Piece, docx, eml, html, pdf, scan_pdf, scan_png
from penstock.model import Attachment

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")
PLACES = ("Alder", "Birch", "Cedar", "Elder", "Hazel", "Larch", "Maple", "Rowan")
PARTS = ("thrust bearing", "guide vane", "trash rack", "governor pump", "draft tube", "shaft seal")
FINDINGS = (
    "ran within its limits for the whole month",
    "showed wear that does not yet need a repair",
    "was cleaned and greased, and measured again a day later",
    "made a noise that went away once the bolts were tightened",
)
SENTENCES = (
    "The crew looked at the {part} and found that it {finding}.",
    "Water stood {level} centimetres below the crest when the gate was opened.",
    "The night shift wrote down every reading by hand, because the recorder was being calibrated.",
    "After the visit the {part} {finding}.",
    "Leaves blocked the intake twice, and the rake was run for {level} minutes.",
    "Nothing else was out of the ordinary, and the next visit is planned as usual.",
)


def make_folder(folder: Path) -> list[Path]:
    """Write the documents again and return their paths."""
    shutil.rmtree(folder, ignore_errors=True)
    made = []
    for name, content in _documents(random.Random(7)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        made.append(path)
    return made


def _documents(dice: random.Random) -> Iterator[tuple[str, bytes]]:
    for number, place in enumerate(PLACES):
        month, day = MONTHS[number], datetime(2025, number + 1, 12, 9, tzinfo=UTC)
        yield f"reports/inspection-{number + 1:02}.pdf", _report(dice, place, month, day)
        yield f"contracts/{place.lower()}.docx", _contract(dice, place, day)
        yield f"site/{place.lower()}.html", _page(dice, place)
        yield f"mail/{number + 1:02}-{place.lower()}.eml", _mail(dice, place, month, day)
        yield f"notes/{place.lower()}.md", f"# Notes on {place} Mill\n\n{_prose(dice, 10)}\n".encode()
    yield "scans/sluice-gate-receipt.pdf", scan_pdf([_receipt()])
    yield "scans/delivery-note.png", scan_png(_delivery())
    yield "readings/levels.csv", _levels(dice)


def _prose(dice: random.Random, sentences: int) -> str:
    return " ".join(
        dice.choice(SENTENCES).format(
            part=dice.choice(PARTS), finding=dice.choice(FINDINGS), level=dice.randrange(5, 90)
        )
        for _ in range(sentences)
    )


def _report(dice: random.Random, place: str, month: str, day: datetime) -> bytes:
    readings = [("Unit", "Output (kW)", "Bearing temperature (C)", "Hours run")] + [
        (
            f"{place} unit {unit}",
            str(dice.randrange(180, 420)),
            str(dice.randrange(48, 79)),
            str(dice.randrange(500, 744)),
        )
        for unit in range(1, 5)
    ]
    first: list[Piece] = [
        f"# Inspection of {place} Mill, {month} 2025",
        _prose(dice, 8),
        "## Readings",
        readings,
    ]
    second: list[Piece] = ["## Findings", _prose(dice, 12), "## Next steps", _prose(dice, 5)]
    return pdf(f"Inspection of {place} Mill, {month} 2025", [first, second], author="Anna Ash", created=day)


def _contract(dice: random.Random, place: str, day: datetime) -> bytes:
    stands_still = (
        f"If a turbine of {place} Mill stands still for more than {dice.randrange(24, 72)} hours because of "
        f"a fault in the work, the contractor pays {dice.randrange(2, 9) * 100} euros for each further day."
    )
    pieces: list[Piece] = [
        f"# Maintenance contract, {place} Mill",
        _prose(dice, 4),
        "## Liability",
        stands_still,
        "## Fees",
        [("Service", "Each visit"), ("Inspection", "450"), ("Oil change", "180"), ("Emergency call", "900")],
        "## Term",
        f"The contract runs for {dice.randrange(2, 6)} years and renews itself unless one side gives notice.",
    ]
    return docx(f"Maintenance contract, {place} Mill", pieces, author="Ben Birch", created=day)


def _page(dice: random.Random, place: str) -> bytes:
    pieces: list[Piece] = [
        f"# Visit {place} Mill",
        _prose(dice, 5),
        "## Opening hours",
        f"From May to September visitors may see the wheel house on Sundays from {dice.randrange(9, 12)}.",
        "## History",
        f"The first wheel was built in {dice.randrange(1650, 1890)}. " + _prose(dice, 6),
    ]
    return html(f"Visit {place} Mill", pieces, author="Cara Cole")


def _mail(dice: random.Random, place: str, month: str, day: datetime) -> bytes:
    part = dice.choice(PARTS)
    text = (
        f"Dear Ben,\n\nthe {part} for {place} Mill will come three weeks late: the foundry lost a mould. "
        f"Please move the visit planned for {month} and tell the crew. Their notice is attached.\n\n"
        f"{_prose(dice, 4)}\n\nAnna\n"
    )
    notice = pdf(
        f"Notice of delay: {part}",
        [
            [
                f"# Notice of delay, order {dice.randrange(1000, 9999)}",
                f"The {part} is delayed. {_prose(dice, 3)}",
            ]
        ],
        author="Foundry Fox",
        created=day,
    )
    attached = Attachment("notice.pdf", notice, "application/pdf")
    return eml(f"Late delivery for {place} Mill", text, sent=day, attachments=[attached])


def _receipt() -> list[Piece]:
    return [
        "# Receipt 77412",
        "Repair of the sluice gate at Hazel Mill on 3 June 2025.",
        "Welding of the lower hinge, two hours of a diver, one new chain.",
        "Paid in full: 1,260 euros. Thank you for your custom. Smithy Stone and Daughters.",
    ]


def _delivery() -> list[Piece]:
    return [
        "# Delivery note",
        "Forty litres of hydraulic oil for the governor of Rowan Mill, received undamaged.",
    ]


def _levels(dice: random.Random) -> bytes:
    rows = [
        f"2025-{month:02}-15,{place} Mill,{dice.randrange(90, 240)}"
        for month in range(1, 9)
        for place in PLACES
    ]
    return ("date,site,level_cm\n" + "\n".join(rows) + "\n").encode()
