"""Makes the Drive of the simulated business: notes, proposals, price lists and contracts in folders."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.companies import Person
from penstock.simulators.providers.world.drive import (
    DOC,
    FOLDER,
    PDF,
    ROOT,
    SHEET,
    SHORTCUT,
    TEXT,
    Drive,
    DriveFile,
)


def make_drive(
    random: Random, clock: SimulatedClock, anchor: datetime, people: list[Person], files: int
) -> Drive:
    """About half documents, the rest sheets, PDFs and text files, in folders; a shortcut, and some trash."""
    drive = Drive(clock, anchor, ids=Random(random.getrandbits(64)))

    def put(name: str, mime: str, person: Person | None, parent: str) -> DriveFile:
        made = anchor - timedelta(seconds=random.randrange(86_400, 500 * 86_400))
        changed = made + timedelta(seconds=random.randrange(86_400))
        file = DriveFile(drive.new_id(), name, mime, made, changed, random.getrandbits(48), person, parent)
        file.version = random.randrange(1, 60)
        drive.files[file.id] = file
        return file

    if files < 1:
        return drive
    folders = [put(name, FOLDER, None, ROOT) for name in ("Clients", "Contracts", "Meetings")]
    kinds = (
        (DOC, "Meeting notes", ""),
        (DOC, "Proposal", ""),
        (SHEET, "Price list", ""),
        (PDF, "Contract", ".pdf"),
        (TEXT, "Call log", ".txt"),
    )
    weights = (5, 4, 3, 2, 1)
    made: list[DriveFile] = []
    for number in range(files):
        mime, what, ending = kinds[number] if number < 5 else random.choices(kinds, weights)[0]
        person = random.choice(people)
        name = f"{what} {person.company.name}{ending}"
        made.append(put(name, mime, person, random.choice(folders).id))
    shortcut = put(f"Shortcut to {made[0].name}", SHORTCUT, None, ROOT)
    shortcut.target = made[0].id
    binned = put("Old draft", DOC, people[0], ROOT)
    binned.trashed = True
    return drive
