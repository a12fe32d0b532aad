"""Measures the sync of a connected source beside a bare loop that reads the same pages."""
