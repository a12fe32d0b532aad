"""Syncing: reads a source from its cursor and writes what changed, items and cursor in one transaction."""
