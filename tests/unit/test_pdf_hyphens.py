"""A hyphen before "and" at a line's end stands for the rest of a word, so it stays, and a space after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.reading import penstock_reading
from penstock.pipeline.parse.pdf.hyphens import words_of
from penstock.pipeline.parse.pdf.reading import PlacedPage, read_layout
from penstock.pipeline.parse.pdf.rules import RuledLine
from penstock.pipeline.parse.pdf.words import HYPHEN
from tests.unit import odd_files
from tests.unit.placed_words import lines
from tests.unit.test_pdf_pages import read

FRENCH = "Les mesures des ponts"
DUTCH = "Het water van een rivier"


@pytest.mark.parametrize(
    ("start", "end", "elsewhere", "said"),
    [
        ("Die Vor", "und Nachteile", "", "Die Vor- und Nachteile"),
        ("Ein", "oder Ausgang", "", "Ein- oder Ausgang"),
        ("Be", "sowie Entladen", "", "Be- sowie Entladen"),
        ("Hin", "bzw. Rückfahrt", "", "Hin- bzw. Rückfahrt"),
        ("Vor", "und/oder Nachteile", "", "Vor- und/oder Nachteile"),
        ("EIN", "UND AUSGANG", "", "EIN- UND AUSGANG"),
        ("pre", "and post-war", "", "pre- and post-war"),
        ("pre", "or post-war", "", "pre- or post-war"),
        ("full", "or part time", "the full time", "full- or part time"),
        ("pré", "et postopératoire", FRENCH, "pré- et postopératoire"),
        ("micro", "ou macroéconomie", FRENCH, "micro- ou macroéconomie"),
        ("pre", "y posguerra", "", "pre- y posguerra"),
        ("micro", "o macroeconomia", "", "micro- o macroeconomia"),
        ("micro", "e macroeconomia", "", "micro- e macroeconomia"),
        ("in", "en uitvoer", DUTCH, "in- en uitvoer"),
        ("for", "og ettermiddag", "", "for- og ettermiddag"),
        ("för", "och nackdelar", "", "för- och nackdelar"),
    ],
)
def test_a_hyphen_before_a_conjunction_stays(start: str, end: str, elsewhere: str, said: str) -> None:
    assert words_of([elsewhere]).joined(f"{start}{HYPHEN}{end}") == said


@pytest.mark.parametrize(
    ("start", "end", "elsewhere", "said"),
    [
        ("the col", "or of it", "a full page", "the color of it"),
        ("a tick", "et was sold", "and the tick et al.", "a ticket was sold"),
        ("die Frau", "en kamen", "Die Frau und eine andere", "die Frauen kamen"),
        ("byg", "og boliger", "bygog", "bygog boliger"),
        ("up", "and-down", "", "upand-down"),
        ("an", "andere Stelle", "", "anandere Stelle"),
        ("isl", "and.", "", "island."),
    ],
)
def test_a_syllable_that_looks_like_a_conjunction_is_joined(
    start: str, end: str, elsewhere: str, said: str
) -> None:
    assert words_of([elsewhere]).joined(f"{start}{HYPHEN}{end}") == said


def test_it_stays_in_paragraphs_and_in_cells() -> None:
    first = "The sale of the harbour and its pre-"
    assert "its pre- and post-war" in read(lines(50, 700, first, "and post-war quays went to the town."))
    assert "OFFENER EIN- UND AUSGANG" in read(
        lines(50, 700, "WIR HABEN EINEN OFFENER EIN-", "UND AUSGANG ZUM")
    )
    rules = [RuledLine(50, y, 350, y) for y in (600, 650, 700)]
    rules += [RuledLine(x, 600, x, 700) for x in (50, 200, 350)]
    words = lines(60, 680, "Vor-", "und Nachteile") + lines(210, 680, "EIN-", "ODER AUSGANG")
    words += lines(60, 620, "rows") + lines(210, 620, "inter-", "national")
    page = PlacedPage(1, {0: words}, tuple(rules))
    assert read_layout([page], {}).markdown(1, words_of(())).splitlines() == [
        "| Vor- und Nachteile | EIN- ODER AUSGANG |",
        "| --- | --- |",
        "| rows | international |",
    ]


def test_it_stays_in_a_file(tmp_path: Path) -> None:
    said = [
        "Der Rat der Stadt hat gestern die Vor-",
        "und Nachteile der neuen Schleuse am Hafen be-",
        "raten.",
    ]
    drawn = b"".join(
        b"1 0 0 1 60 %d Tm (%b) Tj\n" % (700 - 14 * at, line.encode()) for at, line in enumerate(said)
    )
    path = tmp_path / "hyphens.pdf"
    path.write_bytes(odd_files.pdf([b"BT /F 11 Tf\n" + drawn + b"ET"]))
    text = penstock_reading.parse(path).text
    assert " ".join(text.split()) == (
        "Der Rat der Stadt hat gestern die Vor- und Nachteile der neuen Schleuse am Hafen beraten."
    )
