"""The tokens of a path of headings are added up as if the whole path had been counted."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.embed.tokens import counter
from penstock.pipeline.chunk.heading_text import heading_text
from penstock.pipeline.chunk.titles import TOP, Titles

COUNTS = counter("llama")
HEADINGS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
        st.sampled_from(
            ["# Mill", "## T5", "###### 12.5", "Wheel\n=====", "# *a* > b", "# <s>", "#", "# 日本"]
        ),
    ),
    max_size=5,
)


@given(headings=HEADINGS)
@example(headings=["# a", "## 1.2", "### x > y"])
@example(headings=["# </s>", "## b"])
def test_the_tokens_of_a_path_are_those_of_its_headings(headings: list[str]) -> None:
    titles, (path, tokens) = Titles(COUNTS), TOP
    for said in headings:
        title = heading_text(said)
        tokens = titles.tokens(tokens, title, said, COUNTS.count(said))
        path = (*path, title) if title else path
        assert tokens == COUNTS.count(" > ".join(path)) or (tokens is None and "<" in "".join(path))


@pytest.mark.parametrize("said", ["# Mill", "###### Mill", "Mill", "Mill\n===="])
def test_a_heading_costs_the_same_however_it_is_written(said: str) -> None:
    assert Titles(COUNTS).tokens(0, "Mill", said, COUNTS.count(said)) == COUNTS.count("Mill")
