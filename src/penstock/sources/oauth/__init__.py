"""Granting access to a source, and keeping its tokens fresh."""
