"""What an S3 source and the inlet of its bucket's events agree on."""

from typing import Final

STREAM: Final = "objects"
LONGEST_KEY: Final = 990
"""Of the 1,024 bytes that S3 allows; an item's id has room for no more."""
