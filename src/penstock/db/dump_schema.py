"""Tells from a dump whether its schema is from before the migrations were rewritten."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import SchemaReplaced

HEAD_BYTES = 1 << 20
"""A dump starts with an uncompressed table of contents, and the schemas come first in it."""


def check_dump(file: Path) -> None:
    """Raise SchemaReplaced for a dump that this version cannot migrate; its version number does not tell."""
    with file.open("rb") as dump:
        head = dump.read(HEAD_BYTES)
    if b"CREATE SCHEMA queues;" in head and b"CREATE SCHEMA all_tenants;" not in head:
        raise SchemaReplaced(str(file))
