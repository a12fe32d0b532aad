"""Each page of a long scan that was hard to read is named, beyond the twentieth as ranges."""

from __future__ import annotations

from penstock.pipeline.parse.recognition import warnings_of


def test_pages_beyond_the_twentieth_are_named_as_ranges() -> None:
    hard = [*range(1, 31), 40, 51, 52]
    said = warnings_of(dict.fromkeys(hard, 12.0) | {99: 95.0})
    assert said[19] == "page 20 was hard to read (confidence 12 of 100)"
    assert said[20:] == ["13 more pages were hard to read: 21-30, 40, 51-52"]


def test_pages_without_words_are_named_apart_from_those_that_were_hard_to_read() -> None:
    unread = [21, 23, 24]
    said = warnings_of(dict.fromkeys(range(1, 23), 12.0) | dict.fromkeys(unread, 0.0), unread)
    assert said[20:] == [
        "1 more page was hard to read: 22",
        "3 more pages were not blank, but without words: 21, 23-24",
    ]
