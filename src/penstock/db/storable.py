"""Makes text storable in Postgres, which accepts neither NUL nor lone surrogates."""

from __future__ import annotations


def storable_text(text: str) -> str:
    """The text with replacement characters for what Postgres rejects."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
