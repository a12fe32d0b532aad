"""The pipeline between intake and search: parse, classify, chunk, embed, index."""
