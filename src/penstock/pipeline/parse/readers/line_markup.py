"""What the readers of line-based markup (AsciiDoc, reStructuredText, Org) share: paragraphs and lists."""

from __future__ import annotations

from penstock.pipeline.parse.composer import Composer


class Lines:
    """Collects lines of prose and writes them as a paragraph, or as a list if they are items."""

    def __init__(self, out: Composer) -> None:
        self._out = out
        self._held: list[list[str]] = []
        self._is_list = False

    def add(self, line: str, *, is_item: bool = False) -> None:
        if is_item and not self._is_list:
            self.end()
            self._is_list = True
        if is_item or not self._is_list:
            self._held.append([line])
        else:
            self._held[-1].append(line.strip())

    @property
    def is_list(self) -> bool:
        return self._is_list

    def end(self) -> None:
        if not self._held:
            return
        lines = [" ".join(parts) for parts in self._held]
        if self._is_list:
            self._out.items(lines)
        else:
            self._out.paragraph("\n".join(lines))
        self._held, self._is_list = [], False
