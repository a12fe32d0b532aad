"""Measures documents on their way in: ingest, again, after an edit, large, in a burst, by HTTP, and a peer beside."""
