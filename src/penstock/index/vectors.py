"""Converts vectors to the formats of the indexes."""

from __future__ import annotations

from functools import cache

import numpy as np

from penstock.model import Vector


def as_floats(vector: Vector) -> list[float]:
    floats: list[float] = np.frombuffer(vector, dtype="<f2").tolist()
    return floats


def as_text(vector: Vector) -> str:
    """pgvector's text format; five digits represent a 16-bit float exactly."""
    numbers: list[int] = np.frombuffer(vector, dtype="<u2").tolist()
    return f"[{','.join(map(_texts().__getitem__, numbers))}]"


@cache
def _texts() -> list[str]:
    """The text of every 16-bit float by its bits: looking it up is several times faster than formatting."""
    floats = np.arange(65_536, dtype=np.uint16).view(np.float16).tolist()
    return ["%.5g" % value for value in floats]  # noqa: UP031  # twice as fast
