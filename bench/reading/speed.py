"""Measures how long files of 3 MB take to parse and chunk, per MB and beside what is required.

`python -m bench.reading.speed` prints the table alone; words after it choose files by parts of their names.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from time import process_time

from bench.reading.made.markup import STORIES
from bench.reading.odd_files import ODD_FILES, REJECTED, filled
from bench.reading.packages import book, deck, open_document, text_box, workbook
from bench.reading.penstock_reading import parse
from penstock.cli.demo import files as demo_files
from penstock.errors import DocumentRejected
from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import ChunkPlan
from penstock.pipeline.parse.garbage import collected_seldom

SIZE = 3_000_000
REQUIRED = 1.0
"""Processor seconds per MB, before embedding."""
AGAIN = 2
"""How often files that took longer are measured again after all others: other load can double the time."""
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


def _count(size: int) -> int:
    """Stories in a file of about this much text."""
    return max(1, size // len(_TEXT))


def _xlsx(size: int) -> bytes:
    words = '<c t="inlineStr"><is><t>Wheel {at}</t></is></c>'
    row = f'<row><c><v>{{at}}</v></c>{words}<c t="s"><v>{{shared}}</v></c></row>'
    rows = "".join(row.format(at=at, shared=at % 100) for at in range(size // 75))
    return workbook(rows, [f"{_TEXT[:60]} {at}" for at in range(100)])


def _pptx(size: int) -> bytes:
    """Three stories on a slide: a file with more than 10,000 parts is rejected, and a slide is two."""
    slides = (
        text_box([f"Slide {at}"], is_title=True) + text_box(3 * _TEXT.split(". "), place=9)
        for at in range(max(1, _count(size) // 3))
    )
    return deck(list(slides))


def _odt(size: int) -> bytes:
    pieces = (
        f'<text:h text:outline-level="2">Part {at}</text:h><text:p>{_TEXT}</text:p>'
        for at in range(_count(size))
    )
    return open_document("text", "".join(pieces))


def _ods(size: int) -> bytes:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = (
        "<table:table-row>"
        + "".join(map(cell.format, (at, f"Wheel {at}", _TEXT[:60])))
        + "</table:table-row>"
        for at in range(size // 75)
    )
    return open_document("spreadsheet", f'<table:table table:name="Stock">{"".join(rows)}</table:table>')


def _odp(size: int) -> bytes:
    words = "<draw:text-box><text:p>{}</text:p></draw:text-box>"
    box = f'<draw:frame{{}} svg:x="1cm" svg:y="{{}}cm">{words}</draw:frame>'
    title = ' presentation:class="title"'
    pages = (
        f"<draw:page>{box.format(title, 1, f'Slide {at}')}{box.format('', 4, _TEXT)}</draw:page>"
        for at in range(_count(size))
    )
    return open_document("presentation", "".join(pages))


def _epub(size: int) -> bytes:
    page = "".join(f"<h2>Part {at}</h2><p>{_TEXT}</p>" for at in range(20))
    return book([f"<html><body><h1>Chapter</h1>{page}</body></html>"] * max(1, size // len(page)))


def _jats(size: int) -> bytes:
    title = "<title-group><article-title>Wheel</article-title></title-group>"
    head = f"<?xml version='1.0'?><article><front><article-meta>{title}</article-meta></front><body>"
    return filled(
        size,
        lambda number: f"<sec><title>Part {number}</title><p>{_TEXT} <xref>{number}</xref></p></sec>",
        head,
        "</body></article>",
    )


def _org(size: int) -> bytes:
    return filled(size, lambda number: f"* Part {number}\n{_TEXT}\n\n- one\n- two\n\n")


def _asciidoc(size: int) -> bytes:
    return filled(size, lambda number: f"== Part {number}\n\n{_TEXT}\n\n* one\n* two\n\n", "= T\n\n")


def _rst(size: int) -> bytes:
    return filled(size, lambda number: f"Part {number:09}\n==============\n\n{_TEXT}\n\n- one\n- two\n\n")


def _subtitles(size: int) -> bytes:
    said = _TEXT.split(". ")
    return filled(
        size, lambda number: f"{number + 1}\n00:00:01,000 --> 00:00:02,000\n{said[number % len(said)]}\n\n"
    )


def _notebook(size: int) -> bytes:
    head, tail = '{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[', "]}"

    def cells(number: int) -> str:
        said = {"cell_type": "markdown", "source": f"## Part {number}\n\n{_TEXT}"}
        outputs = [{"output_type": "stream", "text": ["done\n"]}]
        code = {"cell_type": "code", "source": [f"print({number})\n"] * 5, "outputs": outputs}
        return ("," if number else "") + json.dumps(said) + "," + json.dumps(code)

    return filled(size, cells, head, tail)


def _mail(size: int) -> bytes:
    return filled(
        size, lambda number: f"{_TEXT}\n\n> {_TEXT[:60]}\n", "From: a@mill.example\nSubject: Wheels\n\n"
    )


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
    "XLSX": ("a.xlsx", _xlsx),
    "PPTX": ("a.pptx", _pptx),
    "ODT": ("a.odt", _odt),
    "ODS": ("a.ods", _ods),
    "ODP": ("a.odp", _odp),
    "EPUB": ("a.epub", _epub),
    "JATS": ("a.nxml", _jats),
    "Org": ("a.org", _org),
    "AsciiDoc": ("a.adoc", _asciidoc),
    "RST": ("a.rst", _rst),
    "subtitles": ("a.srt", _subtitles),
    "notebook": ("a.ipynb", _notebook),
    "mail": ("a.eml", _mail),
    **ODD_FILES,
}


Spent = Mapping[str, float]
"""Seconds per MB by file."""


def seconds_per_mb(folder: Path, size: int = SIZE, only: Iterable[str] = FILES) -> dict[str, float]:
    """By file; those of DOCX, PDF and other packages with usual content are per MB of the text in them."""
    found = {name: _measured(folder, name, size) for name in only}
    for _ in range(AGAIN):
        for name in [name for name, spent in found.items() if spent > REQUIRED]:
            found[name] = min(found[name], _measured(folder, name, size))
    return found


def _measured(folder: Path, name: str, size: int) -> float:
    filename, make = FILES[name]
    path = folder / filename
    path.write_bytes(make(20_000))
    _seconds(name, path)  # loads the reader and the tokeniser
    path.write_bytes(make(size))
    gc.collect()
    gc.freeze()  # as in the worker, where a garbage collection looks only at what the file itself made
    try:
        return round(_seconds(name, path) / (size / 1_000_000), 3)
    finally:
        gc.unfreeze()
        path.unlink()


def _seconds(name: str, path: Path) -> float:
    """Of the processor, to parse and chunk a file once."""
    began = process_time()
    with collected_seldom(), suppress(DocumentRejected) if name in REJECTED else nullcontext():
        chunk(parse(path), ChunkPlan())
    return process_time() - began


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
