"""The options of the pipeline that projects and documents can set, and their bounds."""

from typing import Literal, TypeAlias, get_args

Strategy: TypeAlias = Literal["structure", "paragraph", "sentence", "fixed"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

SMALLEST_CHUNK = 16
"""Tokens. One character can take five; in a smaller chunk a heading and a word no longer fit."""
LARGEST_CHUNK = 8_192
"""Tokens. The schema checks the same bounds (`chunk_tokens_is_sensible`)."""
LARGEST_OVERLAP = LARGEST_CHUNK // 2

CHUNK_TOKENS = 512
CHUNK_OVERLAP = 50
"""What a project has that sets neither."""

ParserName: TypeAlias = Literal["auto", "local", "docling"]
