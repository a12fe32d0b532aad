"""Long and odd files take time in proportion to their size: parse and chunk, in processor time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.reading.odd_files import mail_of_parts
from bench.reading.penstock_reading import parse
from penstock.errors import DocumentRejected
from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import ChunkPlan
from tests.unit import odd_files

SIZE = 1_000_000 if os.environ.get("PENSTOCK_CHAOS_LONG") else 60_000
TRIES = 3
SECONDS_PER_MB = 8.0
"""Far above what is measured on a quiet machine (1 s or less), far below what quadratic work would need."""
ODD: dict[str, tuple[str, Callable[[int], str | bytes]]] = {
    "one line without spaces": ("a.txt", lambda size: "x" * size),
    "short paragraphs": ("a.txt", lambda size: "ab\n\n" * (size // 4)),
    "sentences of one sign": ("a.txt", lambda size: ". " * (size // 2)),
    "a long paragraph": ("a.txt", lambda size: "word and words " * (size // 15)),
    "headings": ("a.md", lambda size: "# h\n" * (size // 4)),
    "open fences": ("a.md", lambda size: "~~~x\n```y\n" * (size // 10)),
    "open comments": ("a.md", lambda size: "<!-- a\n" * (size // 7)),
    "pipes": ("a.md", lambda size: "| a\n|-|\n" * (size // 8)),
    "lists with gaps": ("a.md", lambda size: "- a\n\n\n" * (size // 6)),
    "brackets": ("a.md", lambda size: "[a](" * (size // 4)),
    "tag soup": ("a.html", lambda size: "<html>" + "<p></b><td>a<table><li>" * (size // 23)),
    "attributes": ("a.html", lambda size: "<html><p " + " ".join(f"a{n}=1" for n in range(size // 7)) + ">x"),
    "deep elements": ("a.html", lambda size: "<html>" + "<div>" * (size // 5) + "x"),
    "ragged rows": ("a.csv", lambda size: "a," * (size // 4) + "\n" + "1,2\n" * (size // 8)),
    "columns": ("a.csv", lambda size: "\n".join([",".join(f"c{n}" for n in range(size // 24))] * 4)),
    "a json string": ("a.json", lambda size: json.dumps({"a": "x y " * (size // 4)})),
    "deep json": ("a.json", lambda size: "[" * (size // 2) + "]" * (size // 2)),
    "records": ("a.json", lambda size: "[" + ",".join(['{"a":{"b":1}}'] * (size // 14)) + "]"),
    "deep xml": ("a.xml", lambda size: "<?xml version='1.0'?>" + "<a>" * (size // 7) + "</a>" * (size // 7)),
    "many elements": (
        "a.xml",
        lambda size: f"<?xml version='1.0'?><r>{'<a><b>1</b></a>' * (size // 15)}</r>",
    ),
    "mixed elements": (
        "a.xml",
        lambda size: f"<?xml version='1.0'?><r>{'<p>x<i>y</i></p>' * (size // 16)}</r>",
    ),
    "deep latex": ("a.tex", lambda size: "\\footnote{\\emph{a " * (size // 18)),
    "latex cells": ("a.tex", lambda size: "\\begin{tabular}{l}" + "a & b \\\\\n" * (size // 9)),
    "asciidoc fences": ("a.adoc", lambda size: "= T\n\n" + "----\n....\n|===\n|a\n" * (size // 18)),
    "rst notes": ("a.rst", lambda size: ".. note::\n\n  a::\n\n" * (size // 19)),
    "org blocks": ("a.org", lambda size: "#+begin_src\n:X:\n| a\n" * (size // 20)),
    "cues": ("a.srt", lambda size: "1\n00:00:01,000 --> 00:00:02,000\n<i\n\n" * (size // 38)),
    "python": ("a.py", lambda size: 'def a():\n """\n' * (size // 14)),
    "braces": ("a.java", lambda size: "class A { int f() { '" * (size // 20)),
    "open strings": ("a.js", lambda size: "a(\"'`{ /* " * (size // 10)),
    "pdf, words in no order": ("a.pdf", odd_files.scattered_words),
    "pdf, a ruled table": ("a.pdf", odd_files.many_cells),
    "pdf, columns drawn across": ("a.pdf", odd_files.columns_drawn_across),
    "pdf, short pages": ("a.pdf", odd_files.many_pages),
    "docx, short runs": ("a.docx", odd_files.short_runs),
    "docx, short paragraphs": ("a.docx", odd_files.short_paragraphs),
    "docx, wide tables": ("a.docx", odd_files.wide_tables),
    "rtf, groups": ("a.rtf", odd_files.open_groups),
    "rtf, cells": ("a.rtf", odd_files.short_cells),
    "rtf, split characters": ("a.rtf", odd_files.split_characters),
    "epub, short chapters": ("a.epub", odd_files.many_chapters),
    "epub, one chapter": ("a.epub", odd_files.one_chapter),
    "statements": ("a.sql", lambda size: "create table a (b int); $a$ " * (size // 28)),
}


def _seconds(name: str, make: Callable[[int], str | bytes], size: int, folder: Path) -> float:
    path = folder / name
    made = make(size)
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    began = time.process_time()
    chunk(parse(path), ChunkPlan())
    return time.process_time() - began


@pytest.mark.parametrize("what", ODD)
def test_an_odd_file_is_parsed_and_chunked_in_linear_time(what: str, tmp_path: Path) -> None:
    name, make = ODD[what]
    _seconds(name, make, 2_000, tmp_path)  # loads the reader and the tokeniser
    small = _seconds(name, make, SIZE // 4, tmp_path)
    # Work that is quadratic takes its time again each time; a collection of garbage or a busy core does not.
    for _ in range(TRIES):
        large = _seconds(name, make, SIZE, tmp_path)
        is_linear = large <= 10 * max(small, 0.02)  # four times the text may take four times the time
        is_quick = large <= SECONDS_PER_MB * SIZE / 1_000_000
        if is_linear and is_quick:
            return
    pytest.fail(f"{SIZE} characters took {large:.2f} s, a quarter of them {small:.2f} s")


def test_a_mail_with_too_many_parts_is_rejected_before_all_are_read(tmp_path: Path) -> None:
    path = tmp_path / "parts.eml"
    path.write_bytes(mail_of_parts(1_000_000))
    began = time.process_time()
    with pytest.raises(DocumentRejected, match="1,000 parts"):
        parse(path)
    assert time.process_time() - began < 1.5  # reading all 28,000 takes 4 s, a thousand of them 0.2 s
