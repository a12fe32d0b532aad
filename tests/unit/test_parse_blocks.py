"""The structure found in Markdown-like text, and the tables found by where words stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Block
from penstock.pipeline.parse.blocks import assembled, structure
from penstock.pipeline.parse.columns import PlacedWords, tables
from penstock.pipeline.parse.table import markdown_table


def said(text: str) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, text[block.start : block.end]) for block in structure(text)]


def assert_covers(text: str, blocks: tuple[Block, ...]) -> None:
    """Blocks are in order, do not overlap, start and end at characters, and leave only white space out."""
    at = 0
    for block in blocks:
        assert at <= block.start < block.end <= len(text)
        assert not text[at : block.start].strip()
        assert not text[block.start].isspace()
        assert not text[block.end - 1].isspace()
        at = block.end
    assert not text[at:].strip()


def test_each_kind_of_block_is_found_with_its_extent() -> None:
    text = """# Title

One paragraph
over two lines.
## Section
- first
- second

  more of the second
1. third

| a | b |
| --- | --- |
| 1 | 2 |
After the table.

```py
# no heading

x = 1
```
Setext
======
End"""
    assert said(text) == [
        ("heading", 1, "# Title"),
        ("paragraph", 0, "One paragraph\nover two lines."),
        ("heading", 2, "## Section"),
        ("list", 0, "- first\n- second\n\n  more of the second\n1. third"),
        ("table", 0, "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("paragraph", 0, "After the table."),
        ("code", 0, "```py\n# no heading\n\nx = 1\n```"),
        ("heading", 1, "Setext\n======"),
        ("paragraph", 0, "End"),
    ]


def test_what_only_looks_like_structure_is_a_paragraph() -> None:
    for text in ("#hashtag here", "a | b", "-dash", "5.5 metres", "####### seven"):
        assert [kind for kind, _, _ in said(text)] == ["paragraph"], text


def test_a_code_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert said("```\nx\n\n# y") == [("code", 0, "```\nx\n\n# y")]


def test_pages_are_joined_and_every_block_knows_its_own() -> None:
    text, blocks = assembled([(1, "# One\n\nwords"), (2, "  \n"), (3, "more words\n")])
    assert text == "# One\n\nwords\n\nmore words"
    assert [(block.page, text[block.start : block.end]) for block in blocks] == [
        (1, "# One"),
        (1, "words"),
        (3, "more words"),
    ]


def test_plain_text_has_paragraphs_only() -> None:
    text, blocks = assembled([(None, "# a log line\n- not a list\n\n| x |\n| - |")], plain=True)
    assert [(block.kind, text[block.start : block.end]) for block in blocks] == [
        ("paragraph", "# a log line\n- not a list"),
        ("paragraph", "| x |\n| - |"),
    ]


MARKS = [
    "# ",
    "## ",
    "- ",
    "1. ",
    "| a | b |\n",
    "| --- | --- |\n",
    "```\n",
    "~~~",
    "\n",
    "\n\n",
    "  ",
    "\t",
    "==",
]
SCRAPS = st.lists(st.sampled_from(MARKS) | st.text(max_size=8), max_size=30).map("".join)


@given(pages=st.lists(SCRAPS, max_size=4), plain=st.booleans())
def test_blocks_cover_all_that_is_not_white_space(pages: list[str], plain: bool) -> None:
    text, blocks = assembled(enumerate(pages, start=1), plain=plain)
    assert_covers(text, blocks)
    assert "\0" not in text
    assert [block.page for block in blocks] == sorted(block.page or 0 for block in blocks)


def test_a_table_is_written_with_pipes_escaped_and_rows_filled_up() -> None:
    assert markdown_table([["a|b", "c"], ["1"], ["", ""], ["x\ny", "z"]]) == (
        "| a\\|b | c |\n| --- | --- |\n| 1 |  |\n| x y | z |"
    )
    assert markdown_table([[], [""]]) == ""


def placed(*lines: str, step: float = 20.0, character: float = 6.0) -> list[PlacedWords]:
    """Words as a page has them: two spaces part what stands apart."""
    words = []
    for number, line in enumerate(lines):
        at = 0
        for part in line.split("  "):
            if part.strip():
                left = (at + len(part) - len(part.lstrip())) * character
                top = 800 - number * step
                words.append(
                    PlacedWords(left, top - 10, left + len(part.strip()) * character, top, part.strip())
                )
            at += len(part) + 2
    return words


PEOPLE = (
    "Name        City     Role",
    "Anna Ash    Berlin   Engineer",
    "Ben Birch            Lawyer",
    "Cy Cedar    Rome     Nurse",
)


def test_aligned_words_become_a_table_and_a_missing_cell_stays_empty() -> None:
    assert list(tables(placed(*PEOPLE))) == [
        [
            ["Name", "City", "Role"],
            ["Anna Ash", "Berlin", "Engineer"],
            ["Ben Birch", "", "Lawyer"],
            ["Cy Cedar", "Rome", "Nurse"],
        ]
    ]


def test_prose_in_two_columns_is_not_a_table() -> None:
    line = "this column has a long line of prose in it  and so has the other one beside it here"
    assert not list(tables(placed(line, line, line, line)))


def test_two_rows_or_one_column_are_not_a_table() -> None:
    assert not list(tables(placed(*PEOPLE[:2])))
    assert not list(tables(placed("one", "two", "three", "four")))
