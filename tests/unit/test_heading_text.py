"""Headings in paths are the words a person reads."""

from __future__ import annotations

import pytest

from penstock.pipeline.chunk.heading_text import heading_text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("## **Bold** [link](https://example.com/a_(b))", "Bold link"),
        ("Title\n-----", "Title"),
        ("Title\n=====", "Title"),
        ("## Closed ##", "Closed"),
        ("## Programming in C#", "Programming in C#"),
        ("# `code` and _em_ in snake_case {#anchor}", "code and em in snake_case"),
        ("## ***both*** and **a *b* c**", "both and a b c"),
        ('<h1 align="center">\n  The <b>tool</b>\n</h1>', "The tool"),
        ("> ## Quoted", "Quoted"),
        ("# [![badge](x.svg)](y) Project", "badge Project"),
        ("# 5 * 3 * 2", "5 * 3 * 2"),
        ("## __init__.py", "__init__.py"),
        ("# 1\\. One", "1. One"),
        ("#", ""),
    ],
)
def test_a_heading_is_read_without_its_markup(written: str, read: str) -> None:
    assert heading_text(written) == read


def test_a_line_of_a_megabyte_is_left_as_it_is() -> None:
    assert heading_text("# " + "*a" * 500_000) == "*a" * 500_000
