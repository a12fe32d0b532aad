"""The search index: chunks and their vectors, behind one protocol."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.index.opening import open_index
    from penstock.index.pgvector import PgvectorIndex
    from penstock.index.protocol import Gathered, Hit, Index, IndexQuery, QueryVector

__all__ = ["Gathered", "Hit", "Index", "IndexQuery", "PgvectorIndex", "QueryVector", "open_index"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "opening": ["open_index"],
        "pgvector": ["PgvectorIndex"],
        "protocol": ["Gathered", "Hit", "Index", "IndexQuery", "QueryVector"],
    },
)
