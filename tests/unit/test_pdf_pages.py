"""How the words of a PDF page are put in order, and which reading of a page is taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from penstock.pipeline.parse.pdf import reading
from penstock.pipeline.parse.pdf.choice import choose, lost_letters, needs_other, ranges, reasons, summary
from penstock.pipeline.parse.pdf.hyphens import words_of
from penstock.pipeline.parse.pdf.layout import Flow, Grid
from penstock.pipeline.parse.pdf.lines import Piece, line_text, rows
from penstock.pipeline.parse.pdf.paragraphs import Paragraph
from penstock.pipeline.parse.pdf.reading import PlacedPage, escaped, read_layout
from penstock.pipeline.parse.pdf.repeats import Repeats
from penstock.pipeline.parse.pdf.rules import RuledLine
from penstock.pipeline.parse.pdf.signs import PageSigns
from penstock.pipeline.parse.pdf.words import AFTER_ALL, HYPHEN, Word

SIZE = 10.0


def placed(
    x: float, y: float, text: str, *, size: float = SIZE, bold: bool = False, place: int = 0
) -> list[Word]:
    """A line of words, each letter half as wide as the font is high."""
    words = []
    for word in text.split():
        end = x + len(word) * size / 2
        words.append(Word(x, y - 0.2 * size, end, y + size, word, size, bold=False, place=place))
        x, place = end + size / 3, place + 1
    return words


def lines(x: float, top: float, *texts: str, pitch: float = 12.0, place: int = 0) -> list[Word]:
    return [
        word
        for at, text in enumerate(texts)
        for word in placed(x, top - pitch * at, text, place=place + 100 * at)
    ]


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
