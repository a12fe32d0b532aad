"""Generates HTML and Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from bench.reading.made.content import (
    DOCUMENTS,
    Document,
    Heading,
    Item,
    Piece,
    Table,
    TextBox,
    Words,
    truth_of_document,
)
from bench.reading.truth import Truth

PAGE = """<!doctype html><html><head><title>Shop</title></head><body>
<header><h1><a href="/">The <em>corner</em> shop</a></h1></header>
<section><h2 id="news">News &amp; <code>updates</code> <a href="#news">link</a></h2>
<figure><img src="x.png" alt="The shop front"><figcaption>Seen from the street</figcaption></figure>
<details><summary>Opening hours</summary><p>From nine to five</p></details>
<dl><dt>Bread</dt><dd>Baked every morning</dd></dl></section>
<aside><h3>Offers</h3><blockquote>Two for one</blockquote></aside>
<table><caption>Prices</caption><thead><tr><th colspan="2">Goods and size</th><th>Price</th></tr></thead>
<tbody><tr><td>Milk</td><td>one litre</td><td>1.20</td></tr><tr><td>Rye</td><td>a loaf</td><td>3.40</td></tr>
</tbody></table>
<form><label>Your name <input value="Guest"></label><select><option>Pick up</option><option selected>Deliver
</option></select><textarea>No onions</textarea><button>Send order</button></form>
<p hidden>invisible</p><script>track()</script><footer>Closed on Sundays</footer></body></html>"""
PAGE_TEXT = """The corner shop News & updates link The shop front Seen from the street Opening hours
From nine to five Bread Baked every morning Offers Two for one Prices Goods and size Price Milk one litre 1.20
Rye a loaf 3.40 Your name Guest Deliver No onions Send order Closed on Sundays"""
PAGE_TABLE = (("Goods and size", "", "Price"), ("Milk", "one litre", "1.20"), ("Rye", "a loaf", "3.40"))
SHOP = "The corner shop"
PAGE_HEADINGS = ((SHOP,), (SHOP, "News & updates link"), (SHOP, "News & updates link", "Offers"))

MARKDOWN = """<h1 align="center">
  <b>Quick</b> tool
</h1>

Some words.

Install **now**
---------------

```sh
# not a heading
```

- step one

  ### Inside [a list](https://example.com) ##

> #### Quoted `code`
> words of the quote

##### Deep *and* snake_case {#deep}

Last words.

About C#
========

The end.
"""
MARKDOWN_TEXT = """Quick tool Some words Install now not a heading step one Inside a list Quoted code
words of the quote Deep and snake_case Last words About C The end"""
MARKDOWN_HEADINGS = (
    ("Quick tool",),
    ("Quick tool", "Install now"),
    ("Quick tool", "Install now", "Inside a list"),
    ("Quick tool", "Install now", "Inside a list", "Quoted code"),
    ("Quick tool", "Install now", "Inside a list", "Quoted code", "Deep and snake_case"),
    ("About C#",),
)


def make(folder: Path) -> list[Truth]:
    made = []
    for name, document in DOCUMENTS.items():
        for kind, text in (("html", html_of(document)), ("md", markdown_of(document))):
            path = folder / f"{name}.{kind}"
            path.write_text(text, encoding="utf-8")
            made.append(truth_of_document(path, kind, document))
    page, notes = folder / "shop.html", folder / "tool.md"
    page.write_text(PAGE, encoding="utf-8")
    notes.write_text(MARKDOWN, encoding="utf-8")
    made.append(
        Truth(page, "html", PAGE_TEXT, (PAGE_TABLE,), PAGE_HEADINGS, ("Offers", "Prices", "Your name"))
    )
    made.append(Truth(notes, "md", MARKDOWN_TEXT, (), MARKDOWN_HEADINGS, ("Some words", "The end")))
    return made


def html_of(document: Document) -> str:
    body = "\n".join(map(_html, document))
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(document))
    return (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Made</title></head><body>'
        f"{body}{notes}</body></html>"
    )


def _notes(document: Iterable[Piece]) -> list[str]:
    return [piece.note for piece in document if isinstance(piece, Words) and piece.note]


def _html(piece: Piece) -> str:
    if isinstance(piece, Table):
        return _html_table(piece)
    said = escape(piece.text)
    if isinstance(piece, Heading):
        return f"<h{piece.level}>{said}</h{piece.level}>"
    if isinstance(piece, Item):
        return "<ul><li>" * (piece.depth + 1) + said + "</li></ul>" * (piece.depth + 1)
    if isinstance(piece, TextBox):
        return f"<aside><p>{said}</p></aside>"
    half = len(piece.text) // 2
    first, middle, last = (
        escape(part) for part in (piece.text[:half], piece.text[half : half + 2], piece.text[half + 2 :])
    )
    return f"<p>{first}<i>{middle}</i>{last}</p>"


def _html_table(table: Table) -> str:
    rows = []
    for row in table.rows:
        cells = []
        for at, cell in enumerate(row):
            if cell:
                span = next((end for end in range(at + 1, len(row)) if row[end]), len(row)) - at
                cells.append(
                    f'<td colspan="{span}">{escape(cell)}</td>' if span > 1 else f"<td>{escape(cell)}</td>"
                )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def markdown_of(document: Document) -> str:
    parts = []
    for piece in document:
        if isinstance(piece, Heading):
            parts.append(f"{'#' * piece.level} {piece.text}")
        elif isinstance(piece, Item):
            parts.append(f"{'  ' * piece.depth}- {piece.text}")
        elif isinstance(piece, Table):
            lines = [f"| {' | '.join(row)} |" for row in piece.rows]
            parts.append("\n".join([lines[0], "|" + " --- |" * len(piece.rows[0]), *lines[1:]]))
        else:
            parts.append(piece.text)
    return "\n\n".join([*parts, *_notes(document)]) + "\n"
