"""What holds of every chunking, whatever the text."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from penstock.embed.tokens import counter, wordllama_folder
from penstock.model.document import Chunk, Parsed
from penstock.model.pipeline_options import Strategy
from penstock.pipeline.chunk import ChunkPlan, chunk
from tests.unit import documents

LLAMA = Tokenizer.from_file(str(wordllama_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"))

ANYTHING = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400)
WORDS = st.lists(
    st.sampled_from(
        [
            "the",
            "Mill.",
            "water",
            "wheel?",
            "Ünïcödé",
            "日本語。",
            "x" * 90,
            "a\nb",
            "<s>",
            "  ",
            "\t",
            "12.5",
        ]
    ),
    min_size=1,
    max_size=120,
).map(" ".join)
CLOSE = st.lists(
    st.sampled_from(
        ["<s>", "</s>", "<unk>", "a", "😀", " ", "\n", "\t", "\u3000", "word", "<", "x" * 40, "𒐫", "7"]
    ),
    min_size=1,
    max_size=60,
).map("".join)
"""Marks, white space and characters that take many tokens, with nothing between them."""
DIGITS = st.text("0123456789 \n-:.Tz<s>/é", max_size=80)
KINDS = st.sampled_from(["heading", "paragraph", "list", "table", "code"])
PIECES = st.lists(st.tuples(KINDS, st.one_of(ANYTHING, WORDS)), max_size=14)
CLOSE_PIECES = st.lists(st.tuples(KINDS, CLOSE), min_size=1, max_size=5)
SMALL_PLANS = st.builds(
    lambda strategy, size, share: ChunkPlan(strategy, size, int(size * share)),
    st.sampled_from(["structure", "paragraph", "sentence", "fixed"]),
    st.integers(16, 32),
    st.floats(0, 0.5),
)
STRATEGIES = st.sampled_from(["structure", "paragraph", "sentence", "fixed"])
PLANS = st.builds(
    lambda strategy, size, share: ChunkPlan(strategy, size, int(size * share)),
    STRATEGIES,
    st.integers(16, 120),
    st.floats(0, 0.5),
)
relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def covered(chunks: tuple[Chunk, ...], document: Parsed) -> None:
    at = 0
    for found in chunks:
        assert not document.text[at : found.start].strip(), "text between two chunks"
        at = max(at, found.end)
    assert not document.text[at:].strip(), "text after the last chunk"


@relaxed
@given(pieces=PIECES, plan=PLANS, between=st.sampled_from(["\n\n", "\n", " ", "\n" * 40]))
def test_chunks_cover_the_text_and_their_offsets_reproduce_it(
    pieces: list[documents.Piece], plan: ChunkPlan, between: str
) -> None:
    document = documents.parsed(pieces, between=between)
    chunks = chunk(document, plan)
    covered(chunks, document)
    assert [found.ordinal for found in chunks] == list(range(len(chunks)))
    for found in chunks:
        assert found.text == document.text[found.start : found.end]
        assert found.text.strip()
    ends = [found.end for found in chunks]
    assert ends == sorted(set(ends)), "chunks are in order and each adds something"


@relaxed
@given(pieces=PIECES, plan=PLANS, between=st.sampled_from(["\n\n", "\n", " ", "\n" * 40]))
def test_no_chunk_is_over_the_limit_by_its_tokeniser(
    pieces: list[documents.Piece], plan: ChunkPlan, between: str
) -> None:
    for found in chunk(documents.parsed(pieces, between=between), plan):
        tokens = len(LLAMA.encode(found.embedder_input, add_special_tokens=False))
        assert found.token_count == tokens <= plan.max_tokens


@relaxed
@given(pieces=CLOSE_PIECES, plan=SMALL_PLANS, between=st.sampled_from(["\n\n", "\n", " "]))
@example(
    pieces=[("heading", "\t  a\ta\t\t \ta \ta\t\t\t\t\t\t\taa")],
    plan=ChunkPlan("paragraph", 17, 2),
    between="\n",
)
@example(pieces=[("table", "a" + "\u3000" * 9 + "a")], plan=ChunkPlan("sentence", 16, 0), between="\n")
def test_any_text_fits_into_the_smallest_chunks(
    pieces: list[documents.Piece], plan: ChunkPlan, between: str
) -> None:
    document = documents.parsed(pieces, between=between)
    chunks = chunk(document, plan)
    covered(chunks, document)
    for found in chunks:
        tokens = len(LLAMA.encode(found.embedder_input, add_special_tokens=False))
        assert found.token_count == tokens <= plan.max_tokens


@relaxed
@given(pieces=PIECES, plan=PLANS)
def test_pages_and_headings_are_those_of_the_text(pieces: list[documents.Piece], plan: ChunkPlan) -> None:
    document = documents.parsed(pieces, a_page=2)
    for found in chunk(document, plan):
        pages = [
            block.page
            for block in document.blocks
            if block.page is not None
            and document.text[max(block.start, found.start) : min(block.end, found.end)].strip()
        ]
        assert (found.page_from, found.page_to) == (min(pages), max(pages))


@relaxed
@given(text=st.one_of(ANYTHING, WORDS, CLOSE, DIGITS))
def test_adding_up_words_counts_what_the_tokeniser_counts(text: str) -> None:
    assert counter("llama").count(text) == len(LLAMA.encode(text, add_special_tokens=False))


@pytest.mark.parametrize(
    ("strategy", "shape"),
    [
        ("structure", "headings"),
        ("structure", "paragraphs"),
        ("structure", "one block"),
        ("paragraph", "headings"),
        ("sentence", "paragraphs"),
    ],
)
@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 10_000))
def test_an_inserted_sentence_leaves_95_in_100_hashes(strategy: Strategy, shape: str, seed: int) -> None:
    assert _kept(strategy, shape, seed) >= 0.95


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 10_000))
def test_words_inserted_into_text_without_sentences_leave_nine_in_ten_hashes(seed: int) -> None:
    assert _kept("structure", "no punctuation", seed) >= 0.9


def _kept(strategy: Strategy, shape: str, seed: int) -> float:
    """The share of chunks that stay the same when a sentence is inserted somewhere."""
    chance = random.Random(seed)
    before = documents.prose(chance, 750)
    after = [list(part) for part in before]
    chance.choice(after).insert(0, documents.sentence(chance))
    plan = ChunkPlan(strategy, 512, 50)
    kept = {found.input_sha256 for found in chunk(_shaped(before, shape), plan)}
    found = [found.input_sha256 for found in chunk(_shaped(after, shape), plan)]
    assert len(found) >= 70
    return sum(digest in kept for digest in found) / len(found)


def _shaped(parts: list[list[str]], shape: str) -> Parsed:
    pieces = documents.paragraphs(parts)
    if shape == "headings":
        return documents.parsed(documents.under_headings(pieces, 6))
    if shape == "one block":
        return documents.parsed([("paragraph", " ".join(text for _, text in pieces))])
    if shape == "no punctuation":
        return documents.parsed(
            [("paragraph", " ".join(text for _, text in pieces).replace(".", "").lower())]
        )
    return documents.parsed(pieces)
