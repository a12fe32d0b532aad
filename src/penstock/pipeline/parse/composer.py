"""Puts a document together from pieces whose kind is known: headings, paragraphs, lists, tables, code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from penstock.model import Block, Parsed
from penstock.model.document import BlockKind
from penstock.pipeline.parse.blocks import structure
from penstock.pipeline.parse.clean import cleaned
from penstock.pipeline.parse.result import FileMetadata, described_text
from penstock.pipeline.parse.table import markdown_table

DEEPEST_HEADING = 6
_SIGNS = "#" * DEEPEST_HEADING
_block: Callable[[Iterable[object]], Block] = partial(tuple.__new__, Block)
"""A block from all its fields: without a step of Python, unlike `Block(…)`."""


class Composer:
    """Collects pieces in order. A character such as `#` in a paragraph stays one: nothing is parsed again."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def heading(self, text: str, level: int) -> None:
        line = " ".join(text.split())
        if line:
            level = min(max(1, level), DEEPEST_HEADING)
            self._add("heading", _SIGNS[:level] + " " + line, level)

    def paragraph(self, text: str) -> None:
        self._add("paragraph", text)

    def items(self, lines: Iterable[str]) -> None:
        """Items that follow others continue their list."""
        follows = bool(self._blocks) and self._blocks[-1].kind == "list"
        self._add("list", "\n".join(lines), gap="\n" if follows else "\n\n")

    def code(self, text: str) -> None:
        self._add("code", text.strip("\r\n"))

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """The first row is the header; a table with one column is a list."""
        kept = [row for row in rows if any(cell.strip() for cell in row)]
        if max(map(len, kept), default=0) > 1:
            self._add("table", markdown_table(kept))
        else:
            self.items(" ".join(row[0].split()) for row in kept)

    def markdown(self, text: str, deeper: int = 0) -> None:
        """Text whose structure is found as in a Markdown file; its headings go `deeper` levels down."""
        kept = cleaned(text)
        start = self._begin(kept)
        for block in structure(kept):
            level = min(block.level + deeper, DEEPEST_HEADING) if block.level else 0
            self._blocks.append(Block(block.kind, block.start + start, block.end + start, None, level))

    def finished(
        self, parser: str, about: FileMetadata | None = None, warnings: tuple[str, ...] = ()
    ) -> Parsed:
        return described_text(
            "".join(self._parts),
            tuple(self._blocks),
            parser=parser,
            about=about or FileMetadata(),
            warnings=warnings,
        )

    def _add(self, kind: BlockKind, text: str, level: int = 0, gap: str = "\n\n") -> None:
        kept = cleaned(text)
        if stripped := kept.strip():
            # Code keeps the indentation of its first line, which the block leaves out as white space.
            lead = 0 if len(stripped) == len(kept) else len(kept) - len(kept.lstrip())
            parts, length = self._parts, self._length
            if parts:
                parts.append(gap)
                length += len(gap)
            parts.append(kept)
            self._length = length + len(kept)
            start = length + lead
            if gap == "\n":
                begun = self._blocks.pop().start
                self._blocks.append(Block(kind, begun, start + len(stripped), None, level))
                return
            self._blocks.append(_block((kind, start, start + len(stripped), None, level)))

    def _begin(self, text: str) -> int:
        if not text.strip():
            return self._length
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start
