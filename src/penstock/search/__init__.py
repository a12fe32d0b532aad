"""Search over chunks and clients: by meaning, by words, or both."""

from penstock.search.answer import SearchAnswer, SearchHit, Snippet
from penstock.search.query import SearchQuery
from penstock.search.search import EmbedderSource, Search

__all__ = ["EmbedderSource", "Search", "SearchAnswer", "SearchHit", "SearchQuery", "Snippet"]
