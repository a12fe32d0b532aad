"""What happens to a document between intake and search: parse, classify, chunk, embed, index."""
