"""The generated parts of a page whose rest is written by hand, between marks that a reader does not see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def replaced(page: Path, parts: Mapping[str, str]) -> str:
    """The page with these texts between `<!-- generated:begin NAME -->` and `<!-- generated:end -->`."""
    text = page.read_text(encoding="utf-8")
    marks = re.compile(r"(?<=<!-- generated:begin )([\w-]+)( -->\n).*?(?=<!-- generated:end -->)", re.DOTALL)
    named = [found[1] for found in marks.finditer(text)]
    if sorted(named) != sorted(parts):
        raise SystemExit(f"{page.name}: marked parts are {named}, but {sorted(parts)} are generated")
    return marks.sub(lambda found: f"{found[1]}{found[2]}{parts[found[1]].strip()}\n", text)


def cell(text: str) -> str:
    """A text in one line, as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
