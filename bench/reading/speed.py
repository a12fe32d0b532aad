"""Measures how long files of 3 MB take to parse and chunk, per MB and beside what is required.

`python -m bench.reading.speed` prints the table alone; words after it choose files by parts of their names.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import process_time

from bench.reading.made.markup import STORIES
from bench.reading.odd_files import ODD_FILES, filled
from bench.reading.penstock_reading import parse
from penstock.cli.demo import files as demo_files
from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import ChunkPlan

SIZE = 3_000_000
REQUIRED = 1.0
"""Processor seconds per MB, before embedding."""
_TEXT = " ".join(text for _, _, text in STORIES[0].sections)


def _text(size: int) -> bytes:
    return filled(size, lambda number: f"Paragraph {number}. {_TEXT}\n\n")


def _markdown(size: int) -> bytes:
    return filled(size, lambda number: f"## Part {number}\n\n{_TEXT}\n\n- one\n- two\n\n")


def _html(size: int) -> bytes:
    return filled(
        size, lambda number: f"<h2>Part {number}</h2><p>{_TEXT}</p>", "<html><body>", "</body></html>"
    )


def _csv(size: int) -> bytes:
    return filled(size, lambda number: f'{number},Wheel {number},"{_TEXT[:60]}"\n', "id,name,text\n")


def _json(size: int) -> bytes:
    return filled(
        size,
        lambda number: ("," if number else "") + json.dumps({"id": number, "name": "Wheel", "text": _TEXT}),
        "[",
        "]",
    )


def _json_lines(size: int) -> bytes:
    return filled(size, lambda number: json.dumps({"id": number, "name": "Wheel", "text": _TEXT}) + "\n")


def _patent(size: int) -> bytes:
    head = '<?xml version="1.0"?><us-patent-grant><invention-title>Wheel</invention-title><description>'
    tail = "</description></us-patent-grant>"
    return filled(
        size, lambda number: f"<heading>Part {number}</heading><p>{_TEXT} <b>{number}</b></p>", head, tail
    )


def _xbrl(size: int) -> bytes:
    head = '<?xml version="1.0"?><xbrl xmlns:m="http://mill.example"><context id="c1"><e>1</e></context>'
    return filled(
        size,
        lambda number: f'<m:Item{number % 900} contextRef="c1" decimals="0">{number}</m:Item{number % 900}>',
        head,
        "</xbrl>",
    )


def _latex(size: int) -> bytes:
    head = "\\documentclass{article}\\begin{document}\n"
    return filled(size, lambda number: f"\\section{{Part {number}}}\n{_TEXT}\n\n", head, "\\end{document}")


def _python(size: int) -> bytes:
    return filled(size, lambda number: f"def part_{number}(value):\n    return value, {_TEXT!r}\n\n\n")


def _rtf(size: int) -> bytes:
    return filled(size, lambda number: f"\\pard Part {number}. {_TEXT}\\par\n", "{\\rtf1\\ansi ", "}")


def _docx(size: int) -> bytes:
    count = max(1, size // (len(_TEXT) + 12))
    return demo_files.docx("Long", [piece for at in range(count) for piece in (f"## Part {at}", _TEXT)])


def _pdf(size: int) -> bytes:
    count = max(1, size // (10 * len(_TEXT)))
    return demo_files.pdf("Long", [[f"# Part {at}", *[_TEXT] * 10] for at in range(count)])


FILES: Mapping[str, tuple[str, Callable[[int], bytes]]] = {
    "text": ("a.txt", _text),
    "XML, a patent": ("patent.xml", _patent),
    "XML, XBRL": ("xbrl.xml", _xbrl),
    "Markdown": ("a.md", _markdown),
    "HTML": ("a.html", _html),
    "CSV": ("a.csv", _csv),
    "JSON": ("a.json", _json),
    "JSON lines": ("a.jsonl", _json_lines),
    "LaTeX": ("a.tex", _latex),
    "Python": ("a.py", _python),
    "RTF": ("a.rtf", _rtf),
    "DOCX": ("a.docx", _docx),
    "PDF": ("a.pdf", _pdf),
    **ODD_FILES,
}


def seconds_per_mb(folder: Path, size: int = SIZE, only: Iterable[str] = FILES) -> dict[str, float]:
    """By file; those of DOCX and PDF are per MB of the text in them."""
    found: dict[str, float] = {}
    for name in only:
        filename, make = FILES[name]
        path = folder / filename
        for wanted in (20_000, size):  # the first one loads the reader and the tokeniser
            path.write_bytes(make(wanted))
            began = process_time()
            chunk(parse(path), ChunkPlan())
            found[name] = round((process_time() - began) / (wanted / 1_000_000), 3)
        path.unlink()
    return found


def table(found: Mapping[str, float]) -> str:
    lines = [f"| 3 MB of | seconds per MB | required: {REQUIRED:.0f} s per MB |", "|---|--:|---|"]
    lines += [
        f"| {name} | {spent:.2f} | {'yes' if spent <= REQUIRED else '**no**'} |"
        for name, spent in found.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    chosen = [name for name in FILES if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    with tempfile.TemporaryDirectory(prefix="penstock-reading-") as made:
        print(table(seconds_per_mb(Path(made), only=chosen)))
