"""Question sets made by code, so that the documents that answer a question are known and not judged."""
