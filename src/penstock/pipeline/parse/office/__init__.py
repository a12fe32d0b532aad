"""Reads the parts of office files: zip packages with XML, rich text, and the old binary streams."""
