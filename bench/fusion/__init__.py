"""Measures hybrid search beside words alone, vectors alone and reciprocal-rank fusion."""
