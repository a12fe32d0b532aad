"""Which reading of a PDF page is taken: the layout's, pdfium's or xberg's, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from penstock.pipeline.parse.pdf import reading
from penstock.pipeline.parse.pdf.choice import choose, lost_letters, needs_other, ranges, reasons, summary
from penstock.pipeline.parse.pdf.hyphens import words_of
from penstock.pipeline.parse.pdf.layout import Flow, Grid
from penstock.pipeline.parse.pdf.lines import Piece
from penstock.pipeline.parse.pdf.paragraphs import Paragraph
from penstock.pipeline.parse.pdf.reading import PlacedPage, read_layout
from penstock.pipeline.parse.pdf.signs import PageSigns
from penstock.pipeline.parse.pdf.words import AFTER_ALL, Word
from tests.unit.placed_words import SIZE, lines, placed


def test_a_layout_that_lost_letters_is_not_taken() -> None:
    choice = choose(plain="all of the words", layout="all the words")
    assert (choice.reading, choice.text) == ("pdfium", "all of the words")
    assert reasons([(4, choice), (5, choice)]) == [
        "page 4-5: pdfium's text is used, because 2 letters were missing from the layout"
    ]


def placed_page(*words: Iterable[Word]) -> PlacedPage:
    return PlacedPage(1, {0: [word for each in words for word in each]})


def signs_of(page: PlacedPage) -> PageSigns:
    return read_layout([page], {}).pages[1].signs


TWO_COLUMNS = (
    lines(50, 700, *(f"the left column has its line {at} here" for at in "abcdefghij"), place=0),
    lines(350, 700, *(f"on the right is written line {at} now" for at in "abcdefghij"), place=5_000),
)


def across(pieces: Iterable[Piece]) -> list[Flow | Grid]:
    """Reads the lines from top to bottom, whichever column they are in."""
    return [Flow([[one] for one in pieces], (0, 600))]


def backwards(pieces: Iterable[Piece]) -> list[Flow | Grid]:
    found = [replace(one, words=one.words[::-1]) for one in pieces]
    return [Flow([[one] for one in found[::-1]], (0, 600))]


@pytest.mark.parametrize("order", [across, backwards])
def test_a_layout_in_the_wrong_order_is_not_taken(
    order: Callable[[Iterable[Piece]], list[Flow | Grid]], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = placed_page(*TWO_COLUMNS)
    assert signs_of(page) == PageSigns(columns=2)
    monkeypatch.setattr(reading, "read_in_order", order)
    layout = read_layout([page], {})
    plain = " ".join(word.text for word in page.words[0])
    choice = choose(plain=plain, layout=layout.markdown(1, words_of(())), signs=layout.pages[1].signs)
    assert (choice.reading, choice.text) == ("pdfium", plain)
    assert "100% of neighbouring words together" in choice.why


def test_columns_that_the_file_draws_line_by_line_are_still_read_by_layout() -> None:
    """Then pdfium's order is the worse one."""
    left, right = TWO_COLUMNS
    page = placed_page([*left, *(word._replace(place=word.place - 4_950) for word in right)])
    signs = signs_of(page)
    assert signs.order == 1.0 > signs.plain_order
    assert choose(plain="", layout="", signs=signs).why == "2 columns"


def test_words_between_characters_written_without_spaces_keep_their_order() -> None:
    texts = [f"在 {at} 年 ISO 标准 {at + 1} 和 IEC 文件 {at + 2} 之间" for at in range(2_000, 2_008)]
    page = placed_page(lines(50, 700, *texts))
    assert signs_of(page) == PageSigns(columns=1)


def test_a_layout_that_divides_rows_of_a_table_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [
        [f"{row}{column}" for column in ("north", "south", "west")] for row in ("ash", "elm", "oak", "yew")
    ]
    words = [
        word
        for at, row in enumerate(cells)
        for column, cell in enumerate(row)
        for word in placed(50 + 120 * column, 700 - 14 * at, cell, place=3 * at + column)
    ]
    page = placed_page(words)
    assert signs_of(page) == PageSigns(columns=0, tables=1)
    turned = [list(column) for column in zip(*cells, strict=True)]
    monkeypatch.setattr(reading, "read_in_order", lambda _: [Grid(turned, SIZE)])
    choice = choose(plain="rows", layout="rows", signs=signs_of(page))
    assert choice.why == "it keeps 100% of the lines of tables whole, and the layout 0%"


def test_a_layout_that_joins_two_words_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every letter is there, but two words are not."""
    page = placed_page(placed(50, 700, "two words"))
    joined = [Paragraph("twowords", SIZE, bold=False)]
    monkeypatch.setattr(reading, "paragraphs", lambda *_: joined)
    choice = choose(plain="two words", layout="twowords", signs=signs_of(page))
    assert (choice.reading, choice.why) == ("pdfium", "2 words were missing from the layout")


@pytest.mark.parametrize(
    ("plain", "layout", "why"),
    [
        ("5 > 3, or not", "5 3, or not", "1 sign was missing from the layout"),
        ("(a) costs 5 €; b: 7 %", "a costs 5 b 7", "6 signs were missing from the layout"),
        ("1 < 2 = 2 * 1", "1 2 2 1", "3 signs were missing from the layout"),
        ("cafe\u0301", "cafe", "1 sign was missing from the layout"),
    ],
)
def test_a_layout_that_lost_signs_is_not_taken(plain: str, layout: str, why: str) -> None:
    choice = choose(plain=plain, layout=layout)
    assert (choice.reading, choice.why) == ("pdfium", why)


@pytest.mark.parametrize(
    ("plain", "layout"),
    [
        ("• one\r\n• two", "- one\n- two"),
        ("inter-\r\nnational", "international"),
        ("\\# 5\x02\u200b boxes\u00a0here", "# 5 boxes here"),
    ],
)
def test_signs_that_markdown_writes_otherwise_are_not_lost(plain: str, layout: str) -> None:
    assert choose(plain=plain, layout=layout).reading == "layout"


@pytest.mark.parametrize(
    ("signs", "reading", "said"),
    [
        (PageSigns(order=0.985, plain_order=0.99, pairs_behind=3), "layout", ""),
        (
            PageSigns(order=0.985, plain_order=1.0, pairs_behind=4),
            "pdfium",
            "keeps 100% of neighbouring words",
        ),
        (
            PageSigns(order=0.9913, plain_order=0.9924, pairs_behind=4),
            "pdfium",
            "99.2% of neighbouring words",
        ),
        (PageSigns(order=0.9, plain_order=0.85, pairs_behind=4), "layout", ""),
        (PageSigns(order=0.8, plain_order=1.0, pairs_behind=2), "pdfium", "and the layout 80%"),
        (PageSigns(rows=0.96, plain_rows=1.0, rows_behind=4), "pdfium", "and the layout 96%"),
        (PageSigns(rows=0.96, plain_rows=1.0, rows_behind=3), "layout", ""),
    ],
)
def test_a_layout_may_be_behind_by_three_neighbours_or_rows(
    signs: PageSigns, reading: str, said: str
) -> None:
    choice = choose(plain="words", layout="words", signs=signs)
    assert choice.reading == reading
    assert said in choice.why


def test_some_lines_out_of_order_on_a_long_page_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of 59 ends of lines: less than a tenth of all neighbours."""
    said = [f"line{at} of a long page has words to its end{at}" for at in range(60)]
    page = placed_page(lines(50, 750, *said))

    def with_some_moved(pieces: Iterable[Piece]) -> list[Flow | Grid]:
        found = list(pieces)
        found[10:13] = found[12:9:-1]
        found[30], found[40] = found[40], found[30]
        return [Flow([[one] for one in found], (0, 600))]

    monkeypatch.setattr(reading, "read_in_order", with_some_moved)
    signs = signs_of(page)
    assert 0 < signs.plain_order - signs.order < 0.1
    assert signs.pairs_behind > 3
    assert choose(plain="words", layout="words", signs=signs).reading == "pdfium"


def test_letters_of_form_fields_do_not_stand_in_for_lost_ones() -> None:
    choice = choose(plain="Name: lost", layout="Name: stol", fields="stol")
    assert (choice.reading, choice.why) == ("pdfium", "4 letters were missing from the layout")
    assert choose(plain="Name:", layout="Name: stol", fields="stol").reading == "layout"


def test_a_value_of_a_form_field_that_the_layout_has_is_no_difference_in_order() -> None:
    words = []
    for at in range(10):
        label = placed(50, 700 - 20 * at, f"Name{at} of owner", place=10 * at)
        words += [*label, *placed(180, 700 - 20 * at, f"and date{at}:", place=10 * at + 5)]
        words += [word._replace(place=AFTER_ALL + at) for word in placed(138, 700 - 20 * at, "Dorothea")]
    signs = signs_of(placed_page(words))
    assert (signs.missing, signs.order) == (0, 1.0)


@pytest.mark.parametrize("has_all", [True, False])
def test_xberg_is_taken_for_twice_the_words_only_if_those_of_pdfium_are_among_them(has_all: bool) -> None:
    plain = "invoice number 4711"
    more = " ".join(f"word{number}" for number in range(40))
    choice = choose(plain=plain, layout=plain, xberg=f"{plain} {more}" if has_all else more)
    assert choice.reading == ("xberg" if has_all else "layout")


def test_words_left_out_on_purpose_are_not_lost() -> None:
    choice = choose(plain="Header 3\nall words", layout="all words", dropped="Header 3")
    assert (choice.reading, choice.why) == ("layout", "")
    assert lost_letters("Header 3", "") == 7


def test_xberg_is_taken_where_pdfium_cannot_decode_the_characters() -> None:
    plain = "\ufffd\ufffd\ufffd abc \ufffd\ufffd"
    assert needs_other(plain)
    choice = choose(plain=plain, layout=plain, xberg="plain words")
    assert (choice.text, choice.reading, choice.why) == (
        "plain words",
        "xberg",
        "pdfium cannot decode its characters",
    )


def test_the_summary_names_pages_by_reading() -> None:
    layout = choose(plain="a", layout="a")
    plain = choose(plain="ab", layout="a")
    found = [(1, layout), (2, layout), (3, plain), (4, layout)]
    assert summary(found) == "layout 1-2, 4; pdfium 3 (1 letter was missing from the layout)"
    table = choose(plain="a", layout="a", signs=PageSigns(columns=2, tables=1))
    assert summary([(1, table), (2, layout)]) == "layout 1 (2 columns, 1 table); layout 2"
    assert reasons([(1, table)]) == []


def test_a_long_summary_leaves_the_reasons_out() -> None:
    signs = [PageSigns(columns=1), PageSigns(columns=2)]
    pages = [(at, choose(plain="a", layout="a", signs=signs[at % 2])) for at in range(1, 901)]
    assert summary(pages) == "layout 1-900"


def test_ranges_of_pages_are_short() -> None:
    assert ranges([1, 3, 4, 5]) == "1, 3-5"
