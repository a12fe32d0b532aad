"""Generated PDF files, whose content is known, are read better than by the libraries underneath."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from bench.reading import penstock_reading
from bench.reading.made.pdf import make
from bench.reading.pdf_readings import MEASURES, compared, means, table
from bench.reading.peers import pdfium_pages
from bench.reading.truth import Truth, words
from penstock.model import Parsed

LINE_END = re.compile(r"(\w+)[\ufffe\x02](\w+)")


@pytest.fixture(scope="module")
def truths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Truth]:
    return {truth.path.stem: truth for truth in make(tmp_path_factory.mktemp("made"))}


@cache
def read(path: Path) -> Parsed:
    return penstock_reading.parse(path)


def on_page(parsed: Parsed, number: int) -> str:
    return "\n".join(parsed.text[one.start : one.end] for one in parsed.blocks if one.page == number)


def lost_words(plain: str, text: str, left_out: str = "") -> Counter[str]:
    """Words of pdfium that are missing; a word divided at a line's end counts as found if it is whole."""
    got = Counter(words(text))

    def whole(found: re.Match[str]) -> str:
        return joined if got[(joined := found[1] + found[2]).casefold()] else found[0]

    return Counter(words(LINE_END.sub(whole, plain))) - got - Counter(words(left_out))


def test_the_set_has_enough_files_of_different_kinds(truths: dict[str, Truth]) -> None:
    assert len(truths) >= 20
    assert sum(bool(truth.tables) for truth in truths.values()) >= 8
    assert sum(bool(truth.headings) for truth in truths.values()) >= 10


def test_no_word_that_pdfium_finds_on_a_page_is_lost(truths: dict[str, Truth]) -> None:
    """Only a header or footer that an earlier page has is left out, and the metadata has it."""
    for truth in truths.values():
        parsed = read(truth.path)
        repeated = parsed.metadata.get("pdf_repeated_lines", "")
        for number, plain in enumerate(pdfium_pages(truth.path), start=1):
            left_out = f"{repeated} {number}" if number > 1 else ""
            lost = lost_words(plain, on_page(parsed, number), left_out)
            assert not lost, f"{truth.path.stem}, page {number}: {lost}"


def test_scores_are_above_those_of_pdfium_and_of_xberg(truths: dict[str, Truth]) -> None:
    found = compared(truths.values())
    of = {name: means(each for _, each in scored) for name, scored in found.items()}
    ours = of.pop("penstock")
    for measure, least in zip(MEASURES, (0.995, 0.97, 0.95, 0.97), strict=True):
        assert ours[measure] >= least, f"{measure}\n{table(found)}"
    margins = {"words": 0.01, "cells": 0.1, "headings": 0.08, "order": 0.05}
    for name, theirs in of.items():
        for measure, margin in margins.items():
            assert ours[measure] >= theirs[measure] + margin, f"{measure} of {name}\n{table(found)}"


def test_each_page_says_which_reading_was_taken(truths: dict[str, Truth]) -> None:
    for name, said in (
        ("running_lines", "layout 1-12 (1 column)"),
        ("three_columns", "layout 1 (3 columns)"),
        ("mixed", "layout 1 (2 columns, 1 table)"),
    ):
        parsed = read(truths[name].path)
        assert (parsed.parser, parsed.metadata["pdf_reading"], parsed.warnings) == ("layout", said, ())


def test_headers_and_footers_stand_once(truths: dict[str, Truth]) -> None:
    parsed = read(truths["running_lines"].path)
    assert parsed.text.count("Harbour Authority") == 1
    assert re.findall(r"Page \d+ of 12", parsed.text) == ["Page 1 of 12"]
    assert parsed.metadata["pdf_repeated_lines"] == "Harbour Authority: Report on Works | Page 1 of 12"


def test_a_word_divided_at_a_line_end_is_joined_unless_the_document_writes_a_hyphen(
    truths: dict[str, Truth],
) -> None:
    (paragraph,) = read(truths["hyphens"].path).text.splitlines()
    assert paragraph == truths["hyphens"].text


def test_tables_have_their_rows_and_cells(truths: dict[str, Truth]) -> None:
    for name in ("ruled", "open_sided", "borderless", "long_cells", "sideways_table", "mixed"):
        lines = read(truths[name].path).text.splitlines()
        for row in (row for rows in truths[name].tables for row in rows):
            assert f"| {' | '.join(row)} |" in lines, name


def test_values_of_form_fields_stand_beside_their_labels(truths: dict[str, Truth]) -> None:
    text = read(truths["form"].path).text
    assert "| Name: | Dorothea Elm |" in text
    assert "| Insured | [x] |" in text


def test_headings_have_the_levels_of_the_outline_below_the_title(truths: dict[str, Truth]) -> None:
    lines = read(truths["report"].path).text.splitlines()
    assert [line for line in lines if line.startswith("#")][:4] == [
        "# Annual Survey of Waterways",
        "## Summary",
        "### Summary in the north",
        "### Summary in the south",
    ]


def test_a_footnote_follows_both_columns(truths: dict[str, Truth]) -> None:
    assert read(truths["footnotes"].path).text.endswith("is lost since the flood.")
