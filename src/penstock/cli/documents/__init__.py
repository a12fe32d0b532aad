"""Commands about documents: search, document, explain, model."""
