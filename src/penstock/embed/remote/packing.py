"""Turns the numbers of a response into normalised vectors, or rejects them."""

from __future__ import annotations

import numpy as np

from penstock.embed.remote.wire import EmbedResponse
from penstock.model.embedder import Vector


def dimensions_of(answer: EmbedResponse) -> int:
    """The dimensions of a response's vectors; ValueError if they differ or contradict its claim."""
    lengths = {len(one) // 4 if isinstance(one, bytes) else len(one) for one in answer.vectors}
    if answer.dimensions is not None:
        lengths.add(answer.dimensions)
    if len(lengths) != 1:
        raise ValueError(
            f"vectors of {', '.join(map(str, sorted(lengths))) or 'no'} dimensions in one answer"
        )
    return lengths.pop()


def packed(answer: EmbedResponse, *, count: int, dimensions: int) -> tuple[Vector, ...]:
    """One vector for each of `count` texts, in order; raises ValueError for anything else."""
    if len(answer.vectors) != count:
        raise ValueError(f"{len(answer.vectors)} vectors for {count} texts")
    if answer.order is not None and list(answer.order) != list(range(count)):
        raise ValueError("vectors in the wrong order")
    if (found := dimensions_of(answer)) != dimensions:
        raise ValueError(f"vectors of {found} dimensions instead of {dimensions}")
    table = np.empty((count, dimensions), dtype=np.float64)
    for at, one in enumerate(answer.vectors):
        if isinstance(one, bytes) and len(one) % 4:
            raise ValueError("a truncated vector")
        table[at] = np.frombuffer(one, dtype="<f4") if isinstance(one, bytes) else one
    if not np.isfinite(table).all():
        raise ValueError("a vector with a value that is not a finite number")
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise ValueError("a vector of length zero")
    return tuple(Vector(row.tobytes()) for row in (table / lengths).astype("<f2"))
