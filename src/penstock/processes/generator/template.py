"""Fills in a template: `{{word}}` is replaced, and a word without a value is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

WORD: Final = re.compile(r"\{\{(\w+)\}\}")


def filled(name: str, values: Mapping[str, str]) -> str:
    """The text of a template, such as `functions/kickoff.sql`."""
    text = files(__package__).joinpath("templates", *name.split("/")).read_text(encoding="utf-8")
    return WORD.sub(lambda word: values[word[1]], text)
