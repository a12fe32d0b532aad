"""The version of what turns bytes into chunks; a document indexed with another one is not up to date."""

from __future__ import annotations

from penstock.pipeline.chunk.plan import CHUNKER_VERSION

PARSERS_VERSION = 1
"""Raised with every change that reads the same file differently."""

CODE_VERSION = f"parse{PARSERS_VERSION}.chunk{CHUNKER_VERSION}"
