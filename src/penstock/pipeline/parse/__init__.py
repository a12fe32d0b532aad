"""Parsing: turns a file of any supported type into structured text."""
