"""Long and odd files take time in proportion to their size: parse and chunk, in processor time."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bench.reading.odd_files import mail_of_parts
from bench.reading.penstock_reading import parse
from penstock.errors import DocumentRejected
from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import ChunkPlan
from tests.unit import odd_files, odd_packages

IS_LONG = bool(os.environ.get("PENSTOCK_CHAOS_LONG"))
SMALL, LARGE = (62_500, 1_000_000) if IS_LONG else (8_000, 128_000)
MOST_TIMES = 1.4 * LARGE / SMALL
"""Linear work takes up to 17 times as long for 16 times the text, beside other load too. Reading XML in
quadratic time, 66 s for 3 MB, would take 40 times as long in the short form and 130 times in the long one."""
LEAST_SECONDS = 0.015 if IS_LONG else 0.003
"""What the small file counts at least: shorter times are mostly what any file takes."""
TRIES = 4
SECONDS_PER_MB = 4.0
"""Above what is measured on a quiet machine (1 s or less, 1.8 s for one), twice for a busy one."""
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
    "xlsx, short cells": ("a.xlsx", odd_packages.short_cells),
    "xlsx, many strings": ("a.xlsx", odd_packages.many_strings),
    "xlsx, a wide row": ("a.xlsx", odd_packages.wide_row),
    "pptx, many slides": ("a.pptx", odd_packages.many_slides),
    "pptx, many shapes": ("a.pptx", odd_packages.many_shapes),
    "odt, short paragraphs": ("a.odt", odd_packages.short_open_paragraphs),
    "odt, spans": ("a.odt", odd_packages.open_spans),
    "odt, lists": ("a.odt", odd_packages.open_lists),
    "ods, short cells": ("a.ods", odd_packages.short_open_cells),
    "ods, many sheets": ("a.ods", odd_packages.many_open_sheets),
    "odp, many frames": ("a.odp", odd_packages.many_open_frames),
    "notebook, short cells": ("a.ipynb", odd_packages.short_notebook_cells),
    "notebook, one cell": ("a.ipynb", odd_packages.notebook_lines),
    "jats, short sections": ("a.nxml", odd_packages.short_sections),
    "jats, deep sections": ("a.nxml", odd_packages.deep_sections),
    "jats, notes": ("a.nxml", odd_packages.journal_notes),
    "json lines, short records": ("a.jsonl", odd_packages.json_lines),
    "json lines, deep records": ("a.jsonl", odd_packages.deep_json_lines),
    "zip, many files": ("a.zip", odd_packages.many_members),
    "tar, many files": ("a.tar", odd_packages.many_tar_members),
    "mail, headers and quotes": ("a.eml", odd_packages.mail_lines),
    "statements": ("a.sql", lambda size: "create table a (b int); $a$ " * (size // 28)),
}


class Seconds(NamedTuple):
    """Of the processor. Apart, because linear work of the one would hide quadratic work of the other."""

    parse: float
    chunk: float


def _seconds(path: Path, made: str | bytes) -> Seconds:
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    gc.disable()  # a collection looks at everything that the test run has loaded
    try:
        began = time.process_time()
        parsed = parse(path)
        read = time.process_time()
        chunk(parsed, ChunkPlan())
        return Seconds(read - began, time.process_time() - read)
    finally:
        gc.enable()


def _is_linear(small: float, large: float) -> bool:
    return large <= MOST_TIMES * max(small, LEAST_SECONDS)


@pytest.mark.chaos
@pytest.mark.parametrize("what", ODD)
def test_an_odd_file_is_parsed_and_chunked_in_linear_time(what: str, tmp_path: Path) -> None:
    """By a ratio of processor times; `make chaos` runs it with a megabyte."""
    name, make = ODD[what]
    path, short, long = tmp_path / name, make(SMALL), make(LARGE)
    _seconds(path, make(2_000))  # loads the reader and the tokeniser
    # Work that is quadratic takes its time again each time; a busy core does not, and slows both sizes.
    for _ in range(TRIES):
        small, large = _seconds(path, short), _seconds(path, long)
        is_quick = sum(large) <= SECONDS_PER_MB * LARGE / 1_000_000
        if is_quick and _is_linear(small.parse, large.parse) and _is_linear(small.chunk, large.chunk):
            return
    pytest.fail(f"{LARGE:,} characters took {large}, {SMALL:,} took {small}")


def test_a_mail_with_too_many_parts_is_rejected_before_all_are_read(tmp_path: Path) -> None:
    path = tmp_path / "parts.eml"
    path.write_bytes(mail_of_parts(1_000_000))
    began = time.process_time()
    with pytest.raises(DocumentRejected, match="1,000 parts"):
        parse(path)
    assert time.process_time() - began < 1.5  # reading all 28,000 takes 4 s, a thousand of them 0.2 s
