"""How much a mail server may send, and how long it may take: a hostile one must not hold a worker."""

from __future__ import annotations

from typing import Final

LONGEST_LINE: Final = 4 * 1024 * 1024
"""One line: the numbers of half a million mails."""
SMALL: Final = 262_144
"""Everything a server may say to one command, unless the command expects more."""
DESCRIPTION: Final = 2 * 1024 * 1024
"""The headers and the structure of one mail."""
SLACK: Final = 65_536
"""What a server may say beside the content that was asked for."""
COMMAND_SECONDS: Final = 60.0
LOGIN_SECONDS: Final = 30.0
CHUNK: Final = 262_144
"""Bytes of an attachment that are asked for at a time."""
MOST_DEPTH: Final = 60
MOST_VALUES: Final = 50_000
LONGEST_HEADERS: Final = 65_536
LONGEST_PLAIN: Final = 524_288
LONGEST_PAGE: Final = 1_048_576
"""Bytes of a mail's text and of its HTML that are read."""
