"""Storage of documents' original bytes."""
