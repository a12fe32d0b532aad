"""Measures how soon the attachment of a mail that arrives is found."""
