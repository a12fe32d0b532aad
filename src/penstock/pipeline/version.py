"""The version of parsers and chunker; a document indexed with another one is out of date."""

from __future__ import annotations

from penstock.pipeline.chunk.plan import CHUNKER_VERSION

PARSERS_VERSION = 4
"""Raised with every change that reads the same file differently."""

CODE_VERSION = f"parse{PARSERS_VERSION}.chunk{CHUNKER_VERSION}"
