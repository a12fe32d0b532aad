"""Reads the pages of a PDF from its placed words: columns, tables, headings, repeated lines."""
