"""Cuts a parsed document into chunks: a pure function that a child process can run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from penstock.embed.tokens import TokenCounter, counter
from penstock.model.document import Block, Chunk, Heading, Parsed
from penstock.model.pipeline_options import Strategy
from penstock.pipeline.chunk.packing import pack, pack_greedily
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.chunk.unit import HEADING, PARAGRAPH, SENTENCE, Section, Unit
from penstock.pipeline.chunk.units import take_apart
from penstock.pipeline.text import HeldText, Text

Units: TypeAlias = tuple[Unit, ...]

_STRONGEST: dict[Strategy, int] = {"structure": HEADING + 5, "paragraph": PARAGRAPH, "sentence": SENTENCE}
_SLACK = 3  # a word may take one token more or less after a line break than after a space


def chunk(parsed: Parsed, plan: ChunkPlan) -> tuple[Chunk, ...]:
    """Chunks in order; together they cover the text, each with at most `plan.max_tokens`."""
    return tuple(chunks_of(HeldText(parsed.text), parsed.blocks, plan))


def chunks_of(text: Text, blocks: Iterable[Block], plan: ChunkPlan) -> Iterator[Chunk]:
    """Like `chunk`, but streaming: only a window of the text and blocks is in memory."""
    counts = counter(plan.tokenizer)
    room = plan.max_tokens - plan.overlap - _SLACK
    longest = max(5, room // 3)
    paths = _Paths(counts, plan.max_tokens // 3)
    units = take_apart(text, blocks, counts, longest, plan.max_tokens, by_word=plan.strategy == "fixed")
    limited = _limited(units, paths, room, longest)
    if plan.strategy == "fixed":
        ranges = pack_greedily(limited)
    else:
        ranges = pack(limited, room // 2, room, _STRONGEST[plan.strategy])
    yield from _Assembly(text, plan, counts, paths).chunks(ranges)


def _limited(units: Iterable[Unit], paths: _Paths, room: int, longest: int) -> Iterator[tuple[Unit, int]]:
    """Each unit with the tokens that a chunk has room for below its headings."""
    limit = 0
    section: Section | None = None
    header: str | None = None
    for unit in units:
        if unit.section is not section or unit.header is not header:
            section, header = unit.section, unit.header
            limit = max(longest, room - (paths.cost(unit.path) if header else paths.cost_of(section)))
        yield unit, limit


class _Paths:
    """Shortens heading paths so that the text gets at least two thirds of a chunk."""

    def __init__(self, counts: TokenCounter, most: int) -> None:
        self._counts = counts
        self._most = most
        self._known: dict[tuple[str, ...], tuple[tuple[str, ...], int]] = {(): ((), 0)}

    def short(self, path: tuple[str, ...]) -> tuple[str, ...]:
        return self._fitted(path)[0]

    def cost_of(self, section: Section) -> int:
        """Like `cost` of its path; without counting if it is short, as nearly all are."""
        tokens = section.tokens
        if tokens is None or tokens >= self._most:
            return self.cost(section.path)
        return tokens + 1 if tokens else 0

    def cost(self, path: tuple[str, ...]) -> int:
        return self._fitted(path)[1]

    def _fitted(self, path: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
        if path not in self._known:
            short = path
            while (cost := self._tokens(short)) > self._most:
                # the innermost heading is the most specific, so drop the outermost first
                short = short[1:] if len(short) > 1 else self._cut(short[0])
            self._known[path] = short, cost
        return self._known[path]

    def _cut(self, heading: str) -> tuple[str, ...]:
        """A heading with half of its words, or of its characters when it is one word."""
        words = heading.split()
        half = " ".join(words[: len(words) // 2]) if len(words) > 1 else heading[: len(heading) // 2]
        return (half,) if half else ()

    def _tokens(self, path: tuple[str, ...]) -> int:
        return self._counts.count(" > ".join(path)) + 1 if path else 0


@dataclass(slots=True)
class _Assembly:
    text: Text
    plan: ChunkPlan
    counts: TokenCounter
    paths: _Paths
    made: int = 0

    def chunks(self, ranges: Iterable[Units]) -> Iterator[Chunk]:
        before: Units = ()
        for units in ranges:
            yield from self._fitting(before, units)
            before = units

    def _fitting(self, before: Units, units: Units) -> Iterator[Chunk]:
        """The units as one chunk; if it is over the limit, without overlap or headings, or as two."""
        path = self.paths.short(units[0].path)
        variants = ((self._overlap(before, units), path), (0, path), (0, ()))
        for repeated, heading_path in dict.fromkeys(variants):
            made = self._chunk(before[len(before) - repeated :] + units, heading_path)
            if made.token_count <= self.plan.max_tokens:
                self.made += 1
                yield made
                return
        middle = len(units) // 2
        assert middle, "a unit is never over the limit"
        yield from self._fitting(before, units[:middle])
        yield from self._fitting(units[:middle], units[middle:])

    def _chunk(self, units: Units, heading_path: tuple[str, ...]) -> Chunk:
        start, end = units[0].start, units[-1].end
        pages = [unit.page for unit in units if unit.page is not None]
        text = self.text.slice(start, end)
        bare = Chunk(self.made, text, start, end, 0, heading_path)
        return Chunk(
            ordinal=self.made,
            text=text,
            start=start,
            end=end,
            token_count=self.counts.count(bare.embedder_input),
            heading_path=heading_path,
            page_from=min(pages, default=None),
            page_to=max(pages, default=None),
            headings=tuple(Heading(unit.start, unit.heading) for unit in units if unit.heading),
        )

    def _overlap(self, earlier: Units, units: Units) -> int:
        """How many preceding units a chunk repeats: whole sentences of the same section."""
        begin, repeated, here = len(earlier), 0, units[0]
        while begin:
            before = earlier[begin - 1]
            if here.strength >= HEADING or before.strength >= HEADING or before.section is not here.section:
                break
            if before.header is not None or here.header is not None:  # the header row explains the rows
                break
            repeated += before.after
            if repeated > self.plan.overlap:
                break
            begin, here = begin - 1, before
        return len(earlier) - begin
