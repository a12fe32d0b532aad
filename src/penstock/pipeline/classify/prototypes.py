"""The examples of each class, read from prototypes.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from penstock.model.document_class import CLASSES


@dataclass(frozen=True, slots=True)
class Prototype:
    name: str
    text: str

    @property
    def is_kept(self) -> bool:
        return CLASSES[self.name] == "keep"


@cache
def prototypes() -> tuple[Prototype, ...]:
    """In the order of the file: by class, then by language."""
    found = tomllib.loads((files(__package__ or "") / "prototypes.toml").read_text(encoding="utf-8"))
    return tuple(
        Prototype(name, text)
        for name, languages in found.items()
        for texts in languages.values()
        for text in texts
    )
