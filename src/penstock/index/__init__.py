"""The index: where chunks and their vectors lie, behind one protocol."""

from penstock.index.opening import open_index
from penstock.index.pgvector import PgvectorIndex
from penstock.index.protocol import Gathered, Hit, Index, IndexQuery, Probe

__all__ = ["Gathered", "Hit", "Index", "IndexQuery", "PgvectorIndex", "Probe", "open_index"]
