"""Writes long and odd office, OpenDocument, notebook, JATS, mail and archive files of about a given size."""

from __future__ import annotations

import json

from bench.reading.odd_files import filled
from bench.reading.packages import deck, open_document, tarred, text_box, workbook, zipped


def short_cells(size: int) -> bytes:
    return workbook("<row><c><v>1</v></c><c><v>2</v></c></row>" * (size // 41))


def many_strings(size: int) -> bytes:
    count = size // 42
    rows = "".join(f'<row><c t="s"><v>{at}</v></c></row>' for at in range(count))
    return workbook(rows, ["ab"] * count)


def wide_row(size: int) -> bytes:
    """More cells than a sheet has columns, without their names."""
    return workbook("<row>" + "<c><v>1</v></c>" * (size // 15) + "</row><row><c><v>2</v></c></row>")


def many_slides(size: int) -> bytes:
    return deck([text_box([f"Slide {at}"], is_title=True) for at in range(max(1, size // 1_200))])


def many_shapes(size: int) -> bytes:
    """All of them on one slide, in an order that is not that of reading."""
    count = max(1, size // 290)
    return deck(["".join(text_box(["ab"], place=1_000 * (at * 7 % count)) for at in range(count))])


def short_open_paragraphs(size: int) -> bytes:
    return open_document("text", "<text:p>ab</text:p>" * (size // 19))


def open_spans(size: int) -> bytes:
    return open_document("text", f"<text:p>{'<text:span>a</text:span><text:s/>' * (size // 34)}</text:p>")


def open_lists(size: int) -> bytes:
    item = "<text:list><text:list-item><text:p>a</text:p></text:list-item></text:list>"
    return open_document("text", item * (size // len(item)))


def short_open_cells(size: int) -> bytes:
    cell = "<table:table-cell><text:p>1</text:p></table:table-cell>"
    row = f"<table:table-row>{cell * 2}</table:table-row>"
    return open_document("spreadsheet", f"<table:table>{row * (size // len(row))}</table:table>")


def many_open_sheets(size: int) -> bytes:
    cell = "<table:table-cell><text:p>1</text:p></table:table-cell>"
    table = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    return open_document("spreadsheet", table * (size // len(table)))


def many_open_frames(size: int) -> bytes:
    """Half of them on one slide, the others on a slide each."""
    frame = (
        '<draw:frame svg:x="1cm" svg:y="{}cm"><draw:text-box><text:p>a</text:p></draw:text-box></draw:frame>'
    )
    count = size // 230
    frames = "".join(frame.format(at * 7 % count) for at in range(count))
    return open_document(
        "presentation",
        f"<draw:page>{frames}</draw:page>" + f"<draw:page>{frame.format(1)}</draw:page>" * count,
    )


def short_notebook_cells(size: int) -> bytes:
    cell = {"cell_type": "code", "source": ["a\n"] * 3, "outputs": [{"output_type": "stream", "text": "b"}]}
    other = {"cell_type": "markdown", "source": "# h\n\n- a"}
    piece = json.dumps(cell) + "," + json.dumps(other)
    cells = ",".join([piece] * max(1, size // len(piece)))
    return f'{{"nbformat": 4, "nbformat_minor": 5, "metadata": {{}}, "cells": [{cells}]}}'.encode()


def notebook_lines(size: int) -> bytes:
    """One cell of many short lines."""
    lines = json.dumps(["a\n"] * (size // 7))
    return (
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": '
        f'[{{"cell_type": "markdown", "source": {lines}}}]}}'
    ).encode()


def _article(body: str) -> bytes:
    title = "<title-group><article-title>a</article-title></title-group>"
    head = f"<front><article-meta>{title}</article-meta></front>"
    return f"<?xml version='1.0'?><article>{head}<body>{body}</body></article>".encode()


def short_sections(size: int) -> bytes:
    piece = "<sec><title>h</title><p>a<xref>1</xref></p></sec>"
    return _article(piece * (size // len(piece)))


def deep_sections(size: int) -> bytes:
    count = size // 33
    return _article("<sec><title>h</title><p>a</p>" * count + "</sec>" * count)


def journal_notes(size: int) -> bytes:
    """Footnotes and tables inside a paragraph."""
    piece = "<fn><p>n</p></fn><table-wrap><table><tr><td>1</td></tr></table></table-wrap>"
    return _article(f"<p>a{piece * (size // len(piece))}</p>")


def json_lines(size: int) -> bytes:
    return filled(size, lambda number: f'{{"k{number}":1}}\n')


def deep_json_lines(size: int) -> bytes:
    return (("[" * 20 + "1" + "]" * 20 + "\n") * (size // 42)).encode()


def _members(size: int) -> dict[str, str]:
    """As many as an archive may have, and the more of them the larger it is."""
    count = max(1, min(500, size // 2_000))
    return {f"{'d/' * 20}{at}.txt": "ab " * (size // count // 3) for at in range(count)}


def many_members(size: int) -> bytes:
    return zipped(_members(size))


def many_tar_members(size: int) -> bytes:
    return tarred(_members(size))


def mail_lines(size: int) -> bytes:
    """Many headers, then quoted lines."""
    head = "From: a@mill.example\nSubject: parts\n" + "Received: by a; b\n" * (size // 40)
    return (head + "\n" + "> > a\n>b\n" * (size // 20)).encode()
