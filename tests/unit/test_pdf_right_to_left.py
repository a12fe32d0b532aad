"""Pages of right-to-left scripts: the order of their columns, and which reading of them is taken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.pipeline.parse.pdf import reading
from penstock.pipeline.parse.pdf.choice import choose
from penstock.pipeline.parse.pdf.hyphens import words_of
from penstock.pipeline.parse.pdf.layout import Flow, Grid
from penstock.pipeline.parse.pdf.lines import Piece
from penstock.pipeline.parse.pdf.reading import PlacedPage, read_layout
from penstock.pipeline.parse.pdf.signs import PageSigns
from penstock.pipeline.parse.pdf.words import Word
from tests.unit.placed_words import lines_from_right

if TYPE_CHECKING:
    import pytest

LETTERS = "אבגדהוזחטי"
FIRST = [f"הטור הימני הוא השורה {one} כאן היום" for one in LETTERS]
SECOND = [f"בצד שמאל כתובה שורה {one} עכשיו לבד" for one in LETTERS]
COLUMNS = (
    *lines_from_right(550, 700, *FIRST),
    *lines_from_right(250, 700, *SECOND, place=5_000),
)


def page_of(words: Iterable[Word]) -> PlacedPage:
    return PlacedPage(1, {0: list(words)})


def text_of(page: PlacedPage) -> str:
    return read_layout([page], {}).markdown(1, words_of(()))


def across(pieces: Iterable[Piece]) -> list[Flow | Grid]:
    """Reads the lines from top to bottom, whichever column they are in."""
    return [Flow([[one] for one in pieces], (0, 600))]


def test_columns_of_a_right_to_left_script_are_read_from_the_right() -> None:
    said = " ".join(text_of(page_of(COLUMNS)).split())
    assert said == " ".join([*FIRST, *SECOND])


def test_a_right_to_left_page_in_the_right_order_is_taken_from_the_layout() -> None:
    words = [
        word._replace(place=word.place - 4_950 if word.place >= 5_000 else word.place) for word in COLUMNS
    ]
    signs = read_layout([page_of(words)], {}).pages[1].signs  # the file draws across the columns
    assert signs.order == 1.0 > signs.plain_order
    assert choose(plain="", layout="", signs=signs).reading == "layout"


def test_a_right_to_left_page_in_the_wrong_order_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(COLUMNS)
    monkeypatch.setattr(reading, "read_in_order", across)
    layout = read_layout([page], {})
    plain = " ".join(word.text for word in page.words[0])
    choice = choose(plain=plain, layout=layout.markdown(1, words_of(())), signs=layout.pages[1].signs)
    assert (choice.reading, choice.text) == ("pdfium", plain)


def test_numbers_and_latin_words_inside_a_line_keep_their_order() -> None:
    texts = [f"הכרך {at} של ISO 9001 Quality נמצא על המדף {at + 1} ליד הדלת" for at in range(10, 22)]
    words = lines_from_right(550, 700, *texts)
    shown = [_with_runs_as_seen(words[at : at + 12]) for at in range(0, len(words), 12)]
    page = page_of(word for line in shown for word in line)
    signs = read_layout([page], {}).pages[1].signs
    assert signs == PageSigns(columns=1)


def _with_runs_as_seen(line: list[Word]) -> list[Word]:
    """`ISO 9001 Quality` stands from left to right."""
    lefts = line[3:6]
    at = lefts[-1].left
    turned = []
    for word in lefts:
        width = word.right - word.left
        turned.append(word._replace(left=at, right=at + width))
        at += width + 10 / 3
    return [*line[:3], *turned, *line[6:]]
