"""Generates files that are mostly structure: tiny sections, functions, rows, cells, keys and mail parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from bench.reading.packages import book, deck, open_document, text_box, workbook
from penstock.cli.demo import files as demo_files


def filled(size: int, piece: Callable[[int], str], head: str = "", tail: str = "") -> bytes:
    """Numbered pieces until the size is reached."""

    def pieces() -> Iterator[str]:
        left, number = size - len(head) - len(tail), 0
        while left > 0:
            made = piece(number)
            left -= len(made.encode())
            number += 1
            yield made

    return "".join((head, *pieces(), tail)).encode()


def _nested(number: int, depth: int = 10) -> dict[str, object]:
    inner: dict[str, object] = {"value": number}
    for level in range(depth):
        inner = {"id": level, "name": f"n{number}", "inner": inner}
    return inner


def _json_nested(size: int) -> bytes:
    return filled(size, lambda number: ("," if number else "") + json.dumps(_nested(number)), "[", "]")


def _json_chains(size: int) -> bytes:
    """Ten levels without anything beside the next one, in arrays of two."""

    def chain(number: int) -> str:
        inner: object = number
        for level in range(10):
            inner = {f"k{level}": [inner, {"n": number}]}
        return ("," if number else "") + json.dumps(inner)

    return filled(size, chain, "[", "]")


def _json_keys(size: int) -> bytes:
    return filled(size, lambda number: ("," if number else "") + f'"key{number}":{number}', "{", "}")


def _json_chain(size: int) -> bytes:
    """Short enough and deep enough to take the longest of the depths from 2 to 400."""
    piece = '{"a":[' * 5 + "1" + "]}" * 5
    return filled(size, lambda number: ("," if number else "") + piece, "[", "]")


def _json_lines(size: int) -> bytes:
    return filled(size, lambda number: f'{{"k{number}":[[[{number}]]]}}\n')


def _rst(size: int) -> bytes:
    return filled(size, lambda number: f"T{number}\n======\n\nab\n\n")


def _java(size: int) -> bytes:
    return filled(size, lambda number: f"  int f{number}() {{ return {number}; }}\n", "class A {\n", "}\n")


def _python(size: int) -> bytes:
    return filled(size, lambda number: f"def f{number}():\n    return {number}\n\n\n")


def _python_shortest(size: int) -> bytes:
    """Functions of 20 characters."""
    return filled(size, lambda number: f"def f{number % 1000:03}():\n return\n")


def _notebook(size: int) -> bytes:
    head, tail = '{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[', "]}"
    return filled(
        size,
        lambda number: ("," if number else "") + json.dumps({"cell_type": "code", "source": f"f({number})"}),
        head,
        tail,
    )


def _subtitles(size: int) -> bytes:
    return filled(size, lambda number: f"{number}\n00:00:01,000 --> 00:00:02,000\n- No\n\n")


def _org(size: int) -> bytes:
    return filled(size, lambda number: f"* H{number}\n:P:\n:END:\nab\n")


def _workbook(size: int) -> bytes:
    return workbook(filled(size, lambda number: f"<row><c><v>{number}</v></c></row>").decode())


def _slides(size: int) -> bytes:
    boxes = [text_box(["a"], place=9 * at) for at in range(30)]
    return deck(["".join(boxes)] * max(1, size // len("".join(boxes))))


def _open_rows(size: int) -> bytes:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = filled(size, lambda number: f"<table:table-row>{cell.format(number) * 2}</table:table-row>")
    return open_document("spreadsheet", f"<table:table>{rows.decode()}</table:table>")


def _open_lines(size: int) -> bytes:
    return open_document("text", filled(size, lambda number: f"<text:p>{number}</text:p>").decode())


def _chapters(size: int) -> bytes:
    page = "<html><h2>C</h2><p>ab</p></html>"
    return book([page] * min(4_000, max(1, size // 300)))


def _csv_rows(size: int) -> bytes:
    return filled(size, lambda number: f"{number},{number % 7}\n", "id,kind\n")


def _csv_line(size: int) -> bytes:
    return filled(size, lambda number: f"{number},")


def _asciidoc(size: int) -> bytes:
    return filled(size, lambda number: f"|a{number} |{number}\n", "= T\n\n|===\n", "|===\n")


def _headings(size: int) -> bytes:
    return filled(size, lambda number: f"## Part {number}\n\nword {number}\n\n")


def _crowded_pdf(size: int) -> bytes:
    """Pages full of short lines; per character of text."""
    lines = 40
    count = max(1, size // (lines * 48))
    return demo_files.pdf(
        "Long",
        [
            [f"Line {at} of page {page} has a few short words." for at in range(lines)]
            for page in range(count)
        ],
    )


def _mail_lines(size: int) -> bytes:
    head = "From: a@mill.example\nSubject: lines\n\n"
    return filled(size, lambda number: f"> {number}\n\nab\n", head)


def mail_of_parts(size: int) -> bytes:
    return filled(
        size,
        lambda number: f"--b\nContent-Type: text/plain\n\n{number}\n",
        "From: a@mill.example\nSubject: parts\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="b"\n\n',
        "--b--\n",
    )


ODD_FILES: Mapping[str, tuple[str, Callable[[int], bytes]]] = {
    "JSON, records nested ten deep": ("nested.json", _json_nested),
    "JSON, arrays nested ten deep": ("chains.json", _json_chains),
    "JSON, short keys": ("keys.json", _json_keys),
    "JSON, objects in arrays five deep": ("chain.json", _json_chain),
    "JSON lines, short": ("short.jsonl", _json_lines),
    "RST, tiny sections": ("tiny.rst", _rst),
    "Java, methods of one line": ("Tiny.java", _java),
    "Python, functions of two lines": ("tiny.py", _python),
    "Python, functions of 20 characters": ("shortest.py", _python_shortest),
    "notebook, short cells": ("short.ipynb", _notebook),
    "subtitles, one word each": ("short.srt", _subtitles),
    "Org, tiny sections": ("tiny.org", _org),
    "XLSX, short rows": ("rows.xlsx", _workbook),
    "PPTX, many shapes": ("shapes.pptx", _slides),
    "ODS, short rows": ("rows.ods", _open_rows),
    "ODT, short paragraphs": ("lines.odt", _open_lines),
    "EPUB, short chapters": ("chapters.epub", _chapters),
    "mail, short lines": ("lines.eml", _mail_lines),
    "mail, thousands of parts": ("parts.eml", mail_of_parts),
    "CSV, short rows": ("rows.csv", _csv_rows),
    "CSV, one line": ("line.csv", _csv_line),
    "AsciiDoc, a table": ("table.adoc", _asciidoc),
    "Markdown, crowded headings": ("headings.md", _headings),
    "PDF, short lines": ("lines.pdf", _crowded_pdf),
}
REJECTED = frozenset({"mail, thousands of parts"})
"""Files that are measured until they are rejected."""
