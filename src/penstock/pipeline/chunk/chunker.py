"""Cuts a parsed document into chunks: a pure function that a child process can run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.model.document import Chunk, Parsed
from penstock.pipeline.chunk.packing import pack, pack_greedily
from penstock.pipeline.chunk.plan import ChunkPlan, Strategy
from penstock.pipeline.chunk.tokens import TokenCounter, counter
from penstock.pipeline.chunk.units import HEADING, PARAGRAPH, SENTENCE, Taken, Unit, path_at, take_apart

_STRONGEST: dict[Strategy, int] = {"structure": HEADING + 5, "paragraph": PARAGRAPH, "sentence": SENTENCE}
_SLACK = 3  # a word costs a token more or less after a line break than after a space


def chunk(parsed: Parsed, plan: ChunkPlan) -> tuple[Chunk, ...]:
    """Chunks in order: together they cover the text, none is more than `plan.max_tokens` to the embedder."""
    counts = counter(plan.tokenizer)
    room = plan.max_tokens - plan.overlap - _SLACK
    longest = max(5, room // 3)
    taken = take_apart(parsed, counts, longest, by_word=plan.strategy == "fixed")
    paths = _Paths(counts, plan.max_tokens // 3)
    limits = [max(longest, room - paths.cost(path_at(taken, (unit,)))) for unit in taken.units]
    if plan.strategy == "fixed":
        ranges = pack_greedily(taken.units, limits)
    else:
        ranges = pack(taken.units, limits, room // 2, _STRONGEST[plan.strategy])
    assembly = _Assembly(parsed, plan, counts, taken, paths)
    return tuple(assembly.chunks(ranges))


class _Paths:
    """Heading paths that leave the text at least two thirds of a chunk."""

    def __init__(self, counts: TokenCounter, most: int) -> None:
        self._counts = counts
        self._most = most
        self._known: dict[tuple[str, ...], tuple[tuple[str, ...], int]] = {(): ((), 0)}

    def short(self, path: tuple[str, ...]) -> tuple[str, ...]:
        return self._fitted(path)[0]

    def cost(self, path: tuple[str, ...]) -> int:
        return self._fitted(path)[1]

    def _fitted(self, path: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
        if path not in self._known:
            short = path
            while (cost := self._tokens(short)) > self._most:
                # the innermost heading says most, so the outermost goes first
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
    parsed: Parsed
    plan: ChunkPlan
    counts: TokenCounter
    taken: Taken
    paths: _Paths
    made: int = 0

    def chunks(self, ranges: Iterator[tuple[int, int]]) -> Iterator[Chunk]:
        previous = 0
        for first, last in ranges:
            yield from self._fitting(previous, first, last)
            previous = first

    def _fitting(self, previous: int, first: int, last: int) -> Iterator[Chunk]:
        """The range as one chunk; without overlap or headings, or as two, should it be over the limit."""
        units = self.taken.units
        path = self.paths.short(path_at(self.taken, units[first:last]))
        variants = ((self._overlap_from(previous, first), path), (first, path), (first, ()))
        for begin, heading_path in dict.fromkeys(variants):
            made = self._chunk(units[begin:last], heading_path)
            if made.token_count <= self.plan.max_tokens:
                self.made += 1
                yield made
                return
        middle = (first + last) // 2
        assert middle > first, "a unit is never over the limit"
        yield from self._fitting(previous, first, middle)
        yield from self._fitting(first, middle, last)

    def _chunk(self, units: Sequence[Unit], heading_path: tuple[str, ...]) -> Chunk:
        start, end = units[0].start, units[-1].end
        pages = [unit.page for unit in units if unit.page is not None]
        text = self.parsed.text[start:end]
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
        )

    def _overlap_from(self, previous: int, first: int) -> int:
        """Where the chunk begins with what it repeats: whole sentences of the same section."""
        units = self.taken.units
        begin, repeated = first, 0
        while begin > previous:
            before, here = units[begin - 1], units[begin]
            if here.strength >= HEADING or before.strength >= HEADING or before.section != here.section:
                break
            if before.header is not None or here.header is not None:  # the header row says what rows mean
                break
            repeated += before.after
            if repeated > self.plan.overlap:
                break
            begin -= 1
        return begin
