"""Search over chunks and clients: semantic, keyword or hybrid."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.search.answer import SearchAnswer, SearchHit, Snippet, UnavailableEmbedder
    from penstock.search.probing import EmbedderSource
    from penstock.search.query import SearchQuery
    from penstock.search.search import Search

__all__ = [
    "EmbedderSource",
    "Search",
    "SearchAnswer",
    "SearchHit",
    "SearchQuery",
    "Snippet",
    "UnavailableEmbedder",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "answer": ["SearchAnswer", "SearchHit", "Snippet", "UnavailableEmbedder"],
        "probing": ["EmbedderSource"],
        "query": ["SearchQuery"],
        "search": ["Search"],
    },
)
