"""Generates files that are mostly structure: tiny sections, functions, rows, cells, keys and mail parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

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


def _rst(size: int) -> bytes:
    return filled(size, lambda number: f"T{number}\n======\n\nab\n\n")


def _java(size: int) -> bytes:
    return filled(size, lambda number: f"  int f{number}() {{ return {number}; }}\n", "class A {\n", "}\n")


def _python(size: int) -> bytes:
    return filled(size, lambda number: f"def f{number}():\n    return {number}\n\n\n")


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
    "RST, tiny sections": ("tiny.rst", _rst),
    "Java, methods of one line": ("Tiny.java", _java),
    "Python, functions of two lines": ("tiny.py", _python),
    "CSV, short rows": ("rows.csv", _csv_rows),
    "CSV, one line": ("line.csv", _csv_line),
    "AsciiDoc, a table": ("table.adoc", _asciidoc),
    "Markdown, crowded headings": ("headings.md", _headings),
    "PDF, short lines": ("lines.pdf", _crowded_pdf),
}
