"""A file of chunks in batches of JSON, written in the sandbox and read outside without trusting it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_json

from penstock.model import Chunk
from penstock.pipeline.reasons import Reason, rejected
from penstock.sandbox import OutputTooLarge

MOST_BATCH_BYTES = 16 << 20
_LENGTH = struct.Struct("!I")


def write_batch(descriptor: int, batch: list[Chunk]) -> None:
    body = to_json(batch)
    if len(body) > MOST_BATCH_BYTES:
        raise OutputTooLarge
    view = memoryview(_LENGTH.pack(len(body)) + body)
    while view:
        view = view[os.write(descriptor, view) :]


def read_batches(path: Path) -> Iterator[list[Chunk]]:
    """Batch by batch; DocumentRejected if the file does not contain valid chunks."""
    with path.open("rb") as file:
        while head := file.read(_LENGTH.size):
            (length,) = _LENGTH.unpack(head.ljust(_LENGTH.size, b"\xff"))
            try:
                yield _chunks().validate_json(file.read(min(length, MOST_BATCH_BYTES)))
            except ValueError as error:
                raise rejected(Reason.CRASH, "chunking produced an invalid result") from error


@cache
def _chunks() -> TypeAdapter[list[Chunk]]:
    return TypeAdapter(list[Chunk])
