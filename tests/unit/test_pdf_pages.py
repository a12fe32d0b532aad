"""How the words of a PDF page are put in order, and which reading of a page is taken."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import pytest

from penstock.pipeline.parse.pdf.hyphens import words_of
from penstock.pipeline.parse.pdf.lines import line_text, rows
from penstock.pipeline.parse.pdf.reading import PlacedPage, escaped, read_layout
from penstock.pipeline.parse.pdf.repeats import Repeats
from penstock.pipeline.parse.pdf.rules import RuledLine
from penstock.pipeline.parse.pdf.words import HYPHEN, Word
from tests.unit.placed_words import SIZE, lines, placed


def read(*words: Iterable[Word], rules: Sequence[RuledLine] = ()) -> str:
    page = PlacedPage(1, {0: [word for each in words for word in each]}, tuple(rules))
    return read_layout([page], {}).markdown(1, words_of(()))


LEFT = tuple(f"alpha {number} fills its column well" for number in ("one", "two", "six"))


RIGHT = tuple(f"omega {number} fills its column well" for number in ("one", "two", "six"))


@pytest.mark.parametrize("shift", [0.0, 5.0], ids=["same baselines", "other baselines"])
def test_columns_are_read_one_after_the_other(shift: float) -> None:
    text = read(lines(50, 700, *LEFT), lines(250, 700 - shift, *RIGHT, place=50))
    assert text.split() == " ".join((*LEFT, *RIGHT)).split()


def test_a_line_over_both_columns_separates_what_is_above_from_what_is_below() -> None:
    across = "this line is as wide as both of the columns above and below it are wide"
    text = read(
        lines(50, 700, *LEFT),
        lines(250, 700, *RIGHT),
        lines(50, 650, across),
        lines(50, 620, *(line.replace("alpha", "gamma") for line in LEFT)),
        lines(250, 620, *(line.replace("omega", "delta") for line in RIGHT)),
    )
    names = [word for word in text.split() if word in ("alpha", "omega", "this", "gamma", "delta")]
    assert names == ["alpha"] * 3 + ["omega"] * 3 + ["this"] + ["gamma"] * 3 + ["delta"] * 3


def test_cells_of_a_ruled_table_may_have_several_lines_and_span_columns() -> None:
    rules = [RuledLine(50, y, 250, y) for y in (600, 640, 680, 700)]
    rules += [RuledLine(x, 600, x, 700) for x in (50, 250)] + [RuledLine(150, 600, 150, 680)]
    words = [
        *lines(60, 685, "Over both columns"),
        *lines(60, 665, "first of", "two lines"),
        *lines(160, 665, "12.5"),
        *lines(60, 620, "second"),
        *lines(160, 620, "13.5"),
    ]
    assert read(words, rules=rules).splitlines() == [
        "| Over both columns |  |",
        "| --- | --- |",
        "| first of two lines | 12.5 |",
        "| second | 13.5 |",
    ]


def test_rows_of_figures_without_lines_between_them_stay_apart() -> None:
    rules = [RuledLine(50, y, 350, y) for y in (600, 680, 700)]
    rules += [RuledLine(x, 600, x, 700) for x in (50, 150, 250, 350)]
    words = lines(60, 685, "Month") + lines(160, 685, "Sold") + lines(260, 685, "Left")
    words += lines(60, 660, "May", "June") + lines(160, 660, "11", "12") + lines(260, 660, "21", "22")
    assert read(words, rules=rules).splitlines()[2:] == ["| May | 11 | 21 |", "| June | 12 | 22 |"]


def test_a_mark_of_a_list_stays_with_its_item() -> None:
    words = [
        word
        for at, text in enumerate(("first item", "second item", "third item"))
        for word in (*placed(50, 700 - 14 * at, "•"), *placed(80, 700 - 14 * at, text))
    ]
    assert read(words).split("\n\n") == ["- first item", "- second item", "- third item"]


def test_the_last_row_with_an_empty_cell_stays_in_its_table_above_a_sentence() -> None:
    parts = (
        lines(40, 700, "Name", "Gate", "Wheel", "Axle", pitch=14),
        lines(200, 700, "Qty", "2", "11", pitch=14),
    )
    prices = lines(300, 700, "Price", "10.50", "7.00", "3.20", pitch=14)
    sentence = placed(40, 620, "A sentence that ends between two columns above")
    text = read(*parts, prices, sentence)
    assert text.splitlines()[-3:] == [
        "| Axle |  | 3.20 |",
        "",
        "A sentence that ends between two columns above",
    ]


def test_a_line_of_a_right_to_left_script_starts_at_the_right() -> None:
    words = [*placed(50, 700, "עולם"), *placed(90, 700, "2026"), *placed(130, 700, "שלום")]
    assert line_text(words) == "שלום 2026 עולם"


def test_text_beside_the_page_direction_comes_last_and_is_no_heading() -> None:
    page = PlacedPage(1, {0: lines(50, 700, *LEFT), 1: placed(50, -20, "arXiv 1234", size=20)})
    text = read_layout([page], {}).markdown(1, words_of(()))
    assert text.endswith("\n\narXiv 1234")


def test_rows_of_a_table_at_the_page_end_are_not_taken_for_a_footer() -> None:
    """They look alike on all pages, but their numbers do not count pages."""
    repeats = Repeats()
    for page, total in enumerate((812, 17, 4_711, 90, 3), start=1):
        repeats.add(page, rows([*lines(50, 700, *LEFT, *RIGHT), *lines(50, 600, f"Total {total}")]))
    assert not any(repeats.dropped(page) for page in range(1, 6))


def test_a_counting_footer_is_dropped_after_its_first_page() -> None:
    repeats = Repeats()
    for page in range(1, 5):
        footer = placed(50, 40, f"Page {page + 6}", place=900)
        repeats.add(page, rows([*lines(50, 700, *LEFT, *RIGHT), *footer]))
    assert [repeats.dropped(page) for page in range(1, 5)] == [set(), {900, 901}, {900, 901}, {900, 901}]


def test_the_header_row_of_a_table_is_not_taken_for_a_header() -> None:
    repeats = Repeats()
    for page in range(1, 5):
        row = [word for x in (50, 150, 250, 350) for word in placed(x, 760, "Column", place=int(x))]
        repeats.add(page, rows([*row, *lines(50, 700, *LEFT, *RIGHT, place=1000 * page)]))
    assert not any(repeats.dropped(page) & {50, 150, 250, 350} for page in range(1, 5))


def test_a_page_that_repeats_another_is_not_emptied() -> None:
    repeats = Repeats()
    for page in (1, 2, 3):
        footer = lines(50, 100, "on each page", place=50)
        repeats.add(page, rows([*lines(50, 700, "the same words"), *footer]))
    assert not any(repeats.dropped(page) for page in (1, 2, 3))


def test_a_hyphen_stays_only_if_the_document_has_it_inside_a_line() -> None:
    hyphens = words_of(["a well-known and a commercial matter", "inter\ufffenational"])
    assert hyphens.joined(f"well{HYPHEN}known com{HYPHEN}mercial inter{HYPHEN}national") == (
        "well-known commercial international"
    )


def test_a_hyphen_at_a_line_end_inside_a_cell_is_treated_as_in_a_paragraph() -> None:
    rules = [RuledLine(50, y, 350, y) for y in (600, 650, 700)]
    rules += [RuledLine(x, 600, x, 700) for x in (50, 200, 350)]
    words = lines(60, 680, "inter-", "national") + lines(210, 680, "a well-", "known one")
    words += lines(60, 620, "rows") + lines(210, 620, "com-", "mercial")
    page = PlacedPage(1, {0: words}, tuple(rules))
    hyphens = words_of(["They are well-known."])
    assert read_layout([page], {}).markdown(1, hyphens).splitlines() == [
        "| international | a well-known one |",
        "| --- | --- |",
        "| rows | commercial |",
    ]


def test_a_hyphen_at_a_line_end_inside_a_cell_without_lines_is_treated_so_too() -> None:
    words = []
    for at, (left, right) in enumerate([("first", "11"), ("second", "12"), ("third", "13")]):
        top, place = 700 - 30 * at, 1_000 * at
        words += lines(60, top, left, place=place) + lines(300, top, right, place=place + 500)
        words += lines(160, top, "an inter-", "national one", pitch=10, place=place + 10)
    assert "| first | an international one | 11 |" in read(words)


def test_numbers_divided_at_a_line_end_keep_their_hyphen() -> None:
    assert words_of(()).joined(f"2019{HYPHEN}2020") == "2019-2020"


def test_text_that_looks_like_markup_is_not_made_a_heading() -> None:
    assert escaped("# 5 boxes\nplain\n---") == "\\# 5 boxes\nplain\n\\---"


def test_cost_grows_with_the_number_of_words_and_not_faster() -> None:
    """Four times the cells take about four times as long."""

    def seconds(columns: int, rows: int) -> float:
        words = [
            Word(
                20.0 * x, -12.0 * y, 20.0 * x + 5, 10 - 12.0 * y, "1", SIZE, bold=False, place=columns * y + x
            )
            for y in range(rows)
            for x in range(columns)
        ]
        began = time.process_time()
        read(words)
        return time.process_time() - began

    seconds(10, 10)
    small = min(seconds(40, 40) for _ in range(3))
    assert min(seconds(80, 80) for _ in range(3)) < 12 * small
