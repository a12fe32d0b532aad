"""Measures how well a hit's relevance tells an answer from the nearest nonsense."""
