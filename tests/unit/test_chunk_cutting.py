"""Blocks are cut into the same pieces whether they are read at once, by windows, or not searched at all."""

from __future__ import annotations

from hypothesis import assume, example, given
from hypothesis import strategies as st

from penstock.embed.tokens import counter
from penstock.model import Block
from penstock.model.document import BlockKind
from penstock.pipeline.chunk.crowding import TINY, Crowding
from penstock.pipeline.chunk.cutting import Cutter
from penstock.pipeline.chunk.pieces import far_pieces, near_pieces
from penstock.pipeline.chunk.unit import Section, Unit
from penstock.pipeline.text import HeldText

KINDS: st.SearchStrategy[BlockKind] = st.sampled_from(["heading", "paragraph", "list", "table", "code"])
SAID = st.lists(
    st.sampled_from(
        ["a", "B. ", "Go!\n", "\n", "\n\n", " ", "\t", "\u3000", "日本。", "x = 1\n", "| b |\n", "…"]
    ),
    min_size=1,
    max_size=40,
).map("".join)
CROWDED = st.sampled_from([TINY + 1.0, 4.0])
"""Characters per piece before the block."""


def cutter(text: str, average: float, count: int = 0) -> Cutter:
    return Cutter(
        HeldText(text), counter("llama"), 150, 500, by_word=False, crowding=Crowding(count, 0, average)
    )


@given(said=SAID, kind=KINDS, average=CROWDED)
def test_a_block_has_the_same_pieces_read_at_once_or_by_windows(
    said: str, kind: BlockKind, average: float
) -> None:
    near, far = Crowding(average=average), Crowding(average=average)
    pieces = list(near_pieces(said, 0, kind, near))
    assert pieces == list(far_pieces(HeldText(said), Block(kind, 0, len(said)), far))
    assert near == far


@given(said=SAID, kind=KINDS, average=CROWDED, count=st.sampled_from([0, 500, 510, 511]))
def test_the_short_way_to_a_block_of_one_unit_leads_to_the_same_unit(
    said: str, kind: BlockKind, average: float, count: int
) -> None:
    block, section = Block(kind, 0, len(said)), Section()
    short, long = cutter(said, average, count), cutter(said, average, count)
    unit: Unit | None = short.only_unit(block, said, section)
    if unit is not None:
        assert [unit] == list(long.units(block, section))
        assert (short.crowding, short.last_end) == (long.crowding, long.last_end)


@given(said=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
@example(said="12.5 a")
@example(said="Ünï 日本。\n")
def test_a_sentence_after_a_space_has_the_tokens_of_the_sentence(said: str) -> None:
    assume(not said[0].isspace() and "<" not in said)
    counts = counter("llama")
    assert counts.count_both(" " + said, said) == (counts.count(said), counts.count(said))
