"""Rerankers: models that read the question beside each passage, called over HTTP."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.search.reranking.making import check_reranker, make_reranker
    from penstock.search.reranking.protocol import Reranked, Reranker

__all__ = ["Reranked", "Reranker", "check_reranker", "make_reranker"]

__getattr__, __dir__ = lazy(
    __name__,
    {"making": ["check_reranker", "make_reranker"], "protocol": ["Reranked", "Reranker"]},
)
