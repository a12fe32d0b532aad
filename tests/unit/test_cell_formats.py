"""Numbers in cells are shown as their formats say."""

from __future__ import annotations

import pytest

from penstock.pipeline.parse.office.cell_formats import BUILT_IN, plain, shown


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (45_672.0, "dd.mm.yyyy", "15.01.2025"),
        (45_672.0, BUILT_IN[14], "2025-01-15"),
        (45_672.0, 'd. mmmm yyyy "(draft)"', "15. January 2025 (draft)"),
        (45_672.2125, "yyyy-mm-dd hh:mm", "2025-01-15 05:06"),
        (0.7125, "h:mm AM/PM", "5:06 PM"),
        (1.25, "[h]:mm:ss", "30:00:00"),
        (1.0, "d/m/yy", "1/1/00"),
        (0.256, "0%", "26%"),
        (0.256, "0.0%", "25.6%"),
        (1234.5, '#,##0.00 "EUR"', "1234.5"),
        (-3.0, "[Red]dd", "-3"),
    ],
)
def test_a_number_is_shown_in_its_format(value: float, code: str, text: str) -> None:
    assert shown(value, code) == text


def test_numbers_have_no_digits_that_only_the_computer_knows() -> None:
    assert [plain(0.1 + 0.2), plain(3.0), plain(1e20)] == ["0.3", "3", "100000000000000000000"]


def test_dates_counted_from_1904() -> None:
    assert shown(0.0, "yyyy-mm-dd", from_1904=True) == "1904-01-01"
