"""Replaces two patterns of h11 that take quadratic time, on the server's side and on the client's."""

from __future__ import annotations

import re
from typing import Final

import h11._abnf as grammar
import h11._readers as readers

# Written as in h11 0.16, but what is skipped is never given back (`*+`). As h11 has it, 60,000 spaces and a
# vertical tab in a header block the process for 23 seconds, and the same in a chunk's extension for 8.
_HEADER_FIELD: Final = re.compile(
    rf"(?P<field_name>{grammar.field_name}):[ \t]*+(?P<field_value>{grammar.field_value})[ \t]*+".encode()
)
_CHUNK_HEADER: Final = re.compile(
    rf"(?P<chunk_size>{grammar.chunk_size})(?:(?P<chunk_ext>;.*)|[ \t]*+)\r\n".encode()
)


def install() -> None:
    """Let h11 read with these; called wherever a server or a client over h11 is made."""
    setattr(readers, "header_field_re", _HEADER_FIELD)  # noqa: B010 - mypy knows the names as constants
    setattr(readers, "chunk_header_re", _CHUNK_HEADER)  # noqa: B010
