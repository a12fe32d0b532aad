"""Headers and footers whose numbers are counted differently, or that have a number sign of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.reading import penstock_reading
from penstock.pipeline.parse.pdf.lines import rows
from penstock.pipeline.parse.pdf.repeats import Repeats
from tests.unit import odd_files
from tests.unit.placed_words import lines, placed
from tests.unit.test_pdf_pages import LEFT, RIGHT


def made(headers: list[str]) -> bytes:
    """A page for each header, with a text of its own."""
    return odd_files.pdf(
        b"BT /F 11 Tf 1 0 0 1 60 800 Tm (%b) Tj ET\n" % header.encode()
        + b"".join(
            b"BT /F 11 Tf 1 0 0 1 60 %d Tm (Line %d of the text on sheet %c fills the page) Tj ET\n"
            % (700 - 14 * at, at, 65 + number)
            for at in range(12)
        )
        for number, header in enumerate(headers)
    )


@pytest.mark.parametrize(
    "headers",
    [
        ["Page #", "Page 2", "Page 3", "Page 4", "Page 5"],
        ["Order #123456789", "Order 1234567890", "Order #123456789", "Order #5", "Order #5"],
        ["Order ##", "Order 1234567890", "Order #7", "Order 77", "Order ##"],
    ],
)
def test_headers_with_a_number_sign_are_compared_with_numbers(headers: list[str], tmp_path: Path) -> None:
    path = tmp_path / "signs.pdf"
    path.write_bytes(made(headers))
    parsed = penstock_reading.parse(path)
    assert parsed.text.startswith(headers[0])
    for number in range(len(headers)):
        assert f"Line 11 of the text on sheet {chr(65 + number)} fills the page" in parsed.text


def test_a_header_with_a_number_sign_is_dropped_after_its_first_page(tmp_path: Path) -> None:
    path = tmp_path / "signs.pdf"
    path.write_bytes(made(["Order #5", "Order #5", "Order #5", "Order #5"]))
    parsed = penstock_reading.parse(path)
    assert parsed.text.count("Order #5") == 1
    assert parsed.metadata["pdf_repeated_lines"] == "Order #5"


def test_a_number_sign_is_no_number() -> None:
    repeats = Repeats()
    for page, footer in enumerate(("Part #", "Part 2", "Part #", "Part 9", "Part #"), start=1):
        repeats.add(page, rows([*lines(50, 700, *LEFT, *RIGHT), *placed(50, 40, footer, place=900)]))
    assert [bool(repeats.dropped(page)) for page in range(1, 6)] == [False, False, True, False, True]
