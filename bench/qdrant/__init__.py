"""The benchmark of vectors in Qdrant, beside pgvector on the same chunks."""
