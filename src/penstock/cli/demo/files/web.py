"""Writes HTML pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from penstock.cli.demo.files.content import Piece, heading


def html(title: str, pieces: Sequence[Piece], *, author: str = "", language: str = "en") -> bytes:
    """A page with a head, a menu and a script around the given pieces."""
    body = "\n".join(map(_piece, pieces))
    return (
        f'<!doctype html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        f'<meta name="author" content="{escape(author)}"><script>var tracked = true;</script></head>\n'
        f'<body><nav><a href="/">Start</a></nav>\n{body}\n</body></html>\n'
    ).encode()


def _piece(piece: Piece) -> str:
    if isinstance(piece, str):
        level, words = heading(piece)
        tag = f"h{level}" if level else "p"
        return f"<{tag}>{escape(words)}</{tag}>"
    lines = []
    for number, row in enumerate(piece):
        tag = "td" if number else "th"
        lines.append("<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>")
    return "<table>" + "".join(lines) + "</table>"
