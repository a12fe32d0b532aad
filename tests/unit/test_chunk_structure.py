"""How chunks follow headings, tables, sentences and pages, and what a plan accepts."""

from __future__ import annotations

import pickle
import random
import time
from itertools import pairwise

import pytest

from penstock.embed.tokens import count
from penstock.errors import InvalidArgument
from penstock.model.document import Block, Parsed
from penstock.pipeline.chunk import CHUNKER_VERSION, ChunkPlan, chunk, plan_for
from penstock.pipeline.parse.blocks import structure
from tests.unit import documents


def test_an_embedder_that_takes_512_tokens_gets_512_with_50_overlap() -> None:
    assert plan_for(8_191) == ChunkPlan("structure", 512, 50, "llama")
    assert ChunkPlan.version == CHUNKER_VERSION


def test_an_embedder_with_a_smaller_limit_gets_smaller_chunks() -> None:
    plan = plan_for(254, tokenizer="minilm")
    assert (plan.max_tokens, plan.overlap, plan.tokenizer) == (231, 40, "minilm")


@pytest.mark.parametrize(
    ("size", "overlap", "field"),
    [(600, None, "chunk_size"), (8, 0, "chunk_size"), (100, 60, "chunk_overlap")],
)
def test_an_invalid_chunk_plan_is_refused_with_its_field(size: int, overlap: int | None, field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        plan_for(512, size=size, overlap=overlap)
    assert refused.value.field == field


def test_an_unknown_strategy_or_tokeniser_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="structure, paragraph"):
        ChunkPlan("clever")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(InvalidArgument, match="llama or minilm"):
        chunk(documents.parsed([]), ChunkPlan(tokenizer="gpt"))


def test_the_function_and_its_arguments_travel_to_a_child() -> None:
    sent = pickle.loads(pickle.dumps((chunk, documents.parsed([("paragraph", "Water.")]), ChunkPlan())))  # noqa: S301
    assert [found.text for found in sent[0](*sent[1:])] == ["Water."]


def test_a_chunk_has_the_path_of_its_headings() -> None:
    text = "# Mill\n\n## Wheel\n\nIt turns.\n\n## Stone\n\nIt grinds.\n"
    spots = [("heading", "# Mill", 1), ("heading", "## Wheel", 2), ("paragraph", "It turns.", 0)]
    spots += [("heading", "## Stone", 2), ("paragraph", "It grinds.", 0)]
    blocks = tuple(
        Block(kind, text.index(part), text.index(part) + len(part), level=level)  # type: ignore[arg-type]
        for kind, part, level in spots
    )
    paths = [
        found.heading_path
        for found in chunk(Parsed(text, blocks, "test"), ChunkPlan(max_tokens=16, overlap=0))
    ]
    assert list(dict.fromkeys(paths)) == [("Mill", "Wheel"), ("Mill", "Stone")]


def test_a_chunk_of_several_sections_knows_the_path_of_each() -> None:
    text = "# Mill\n\n## Wheel\n\nIt turns.\n\n## Stone\n\nIt grinds.\n\n### Dressing\n\nBy hand.\n"
    parsed = Parsed(text, tuple(structure(text)), "test")
    (only,) = chunk(parsed, ChunkPlan())
    assert only.heading_path == ("Mill", "Wheel")
    assert [heading.path for heading in only.headings] == [
        ("Mill",),
        ("Mill", "Wheel"),
        ("Mill", "Stone"),
        ("Mill", "Stone", "Dressing"),
    ]
    for heading in only.headings:
        assert parsed.text[heading.start :].lstrip("# ").startswith(heading.path[-1])


def test_every_heading_of_a_document_is_in_a_chunk_whatever_the_size() -> None:
    chance = random.Random(7)
    pieces = documents.under_headings(documents.paragraphs(documents.prose(chance, 120)), 3)
    parsed = documents.parsed(pieces)
    titles = [
        parsed.text[block.start : block.end].strip("# ") for block in parsed.blocks if block.kind == "heading"
    ]
    assert len(titles) > 5
    for size in (32, 64, 256, 512):
        for strategy in ("structure", "paragraph", "sentence", "fixed"):
            found = chunk(parsed, ChunkPlan(strategy, size, 0))
            assert [each.path[-1] for made in found for each in made.headings] == titles, (size, strategy)


def test_long_sections_are_cut_at_their_headings() -> None:
    chance = random.Random(1)
    pieces = documents.under_headings(documents.paragraphs(documents.prose(chance, 300)), 12)
    found = chunk(documents.parsed(pieces), ChunkPlan(max_tokens=128, overlap=20))
    for at, piece in enumerate(found):
        heading_at = piece.text.find("## Section")
        assert heading_at in (-1, 0), f"chunk {at} runs over a heading"


def test_rows_of_a_table_keep_its_header_in_their_path() -> None:
    rows = "\n".join(f"| place {at} | {at * 37} | open |" for at in range(60))
    table = f"| Place | Visitors | State |\n|---|---|---|\n{rows}"
    found = chunk(documents.parsed([("heading", "## Visits"), ("table", table)]), ChunkPlan(max_tokens=128))
    assert len(found) > 5
    assert found[0].heading_path == ("Visits",)
    assert all(piece.heading_path == ("Visits", "| Place | Visitors | State |") for piece in found[1:])
    assert all(piece.text.startswith("| ") and piece.text.endswith("|") for piece in found[1:])


def test_a_chunk_repeats_the_last_sentences_of_the_previous_one() -> None:
    chance = random.Random(2)
    found = chunk(
        documents.parsed(documents.paragraphs(documents.prose(chance, 400))),
        ChunkPlan(max_tokens=400, overlap=60),
    )
    repeats = [(before.end - after.start, after) for before, after in pairwise(found)]
    assert sum(length > 0 for length, _ in repeats) > len(repeats) // 2
    for length, after in repeats:
        if length > 0:
            assert after.text[:length].rstrip().endswith(".")
            assert count("llama", [after.text[:length]])[0] <= 60


def test_nothing_is_repeated_across_a_heading() -> None:
    chance = random.Random(3)
    pieces = documents.under_headings(documents.paragraphs(documents.prose(chance, 100)), 4)
    found = chunk(documents.parsed(pieces), ChunkPlan(max_tokens=100, overlap=30))
    starts = {piece.start for piece in found if piece.text.startswith("## ")}
    assert starts
    assert all(before.end <= after.start for before, after in pairwise(found) if after.start in starts)


def test_headings_longer_than_a_third_of_a_chunk_are_shortened() -> None:
    pieces: list[documents.Piece] = [("heading", "## " + "endless heading " * 50), ("paragraph", "Short.")]
    found = chunk(documents.parsed(pieces), ChunkPlan(max_tokens=60, overlap=0))
    assert all(count("llama", [" ".join(piece.heading_path)])[0] <= 20 for piece in found)
    assert found[-1].heading_path


def test_an_overlong_word_is_cut_by_characters() -> None:
    word = "".join(random.Random(4).choices("abcdefghij0123456789", k=20_000))
    found = chunk(documents.parsed([("paragraph", word)]), ChunkPlan(max_tokens=64, overlap=0))
    assert "".join(piece.text for piece in found) == word


def test_text_a_parser_left_outside_its_blocks_is_chunked_too() -> None:
    found = chunk(Parsed("before. INSIDE. after.", (Block("paragraph", 8, 15),), "test"), ChunkPlan())
    assert found[0].text == "before. INSIDE. after."


def test_an_empty_text_has_no_chunks() -> None:
    assert chunk(Parsed(" \n ", (), "test"), ChunkPlan()) == ()


def test_megabytes_take_seconds() -> None:
    """Generous: the figure is half a second for 1.5 MB on a free core."""
    chance = random.Random(5)
    pieces = documents.under_headings(documents.paragraphs(documents.prose(chance, 9_000)), 8)
    document = documents.parsed(pieces)
    started = time.process_time()
    chunk(document, ChunkPlan())
    assert time.process_time() - started < 6 * len(document.text) / 1_500_000
