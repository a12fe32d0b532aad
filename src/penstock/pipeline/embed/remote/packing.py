"""Turns the numbers of an answer into vectors of length one, or says why they cannot be trusted."""

from __future__ import annotations

import numpy as np

from penstock.model.embedder import Vector
from penstock.pipeline.embed.remote.wire import Answer


def dimensions_of(answer: Answer) -> int:
    """How long the vectors of an answer are; raises ValueError when they differ or it says otherwise."""
    lengths = {len(one) // 4 if isinstance(one, bytes) else len(one) for one in answer.vectors}
    if answer.dimensions is not None:
        lengths.add(answer.dimensions)
    if len(lengths) != 1:
        raise ValueError(
            f"vectors of {', '.join(map(str, sorted(lengths))) or 'no'} dimensions in one answer"
        )
    return lengths.pop()


def packed(answer: Answer, *, count: int, dimensions: int) -> tuple[Vector, ...]:
    """One vector for each of `count` texts, in their order; raises ValueError for anything else."""
    if len(answer.vectors) != count:
        raise ValueError(f"{len(answer.vectors)} vectors for {count} texts")
    if answer.order is not None and list(answer.order) != list(range(count)):
        raise ValueError("vectors out of the order of the texts")
    if (found := dimensions_of(answer)) != dimensions:
        raise ValueError(f"vectors of {found} dimensions instead of {dimensions}")
    table = np.empty((count, dimensions), dtype=np.float64)
    for at, one in enumerate(answer.vectors):
        if isinstance(one, bytes) and len(one) % 4:
            raise ValueError("a vector that is cut off")
        table[at] = np.frombuffer(one, dtype="<f4") if isinstance(one, bytes) else one
    if not np.isfinite(table).all():
        raise ValueError("a vector with something that is no number")
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise ValueError("a vector of length zero")
    return tuple(Vector(row.tobytes()) for row in (table / lengths).astype("<f2"))
