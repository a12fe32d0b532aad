"""The frames between a local embedder and its child: texts as JSON, vectors as raw bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence

REQUEST = struct.Struct("<IBI")
"""Id, rank (the lowest is embedded first), length of the JSON list that follows."""
ANSWER = struct.Struct("<IBI")
"""Id, one of the kinds below, length of the body that follows."""
TOKENS = struct.Struct("<I")

READY, VECTORS, REFUSED, OUT_OF_MEMORY = 0, 1, 2, 3

GIVES_WAY = "gives-way"
"""The argument of a child that runs at low priority."""


def request(number: int, rank: int, texts: Sequence[str]) -> bytes:
    body = json.dumps(list(texts)).encode()
    return REQUEST.pack(number, rank, len(body)) + body


def answer(number: int, kind: int, body: bytes = b"") -> bytes:
    return ANSWER.pack(number, kind, len(body)) + body
