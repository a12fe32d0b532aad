"""The documents of the benchmark; their text is the same in every run."""

from __future__ import annotations

import dataclasses
import io
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.documents.prose import Prose
from bench.documents.sizes import Sizes
from penstock.cli.demo.files import Piece, docx, eml, html, pdf

CREATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LENGTHS = (3, 1, 8, 5, 2, 20, 12, 40, 4, 6)
"""Paragraphs of the documents in turn; there are seven kinds, so each kind comes in every size."""


@dataclasses.dataclass(frozen=True, slots=True)
class SampleFile:
    filename: str
    mime_type: str
    content: bytes


def mixed(sizes: Sizes, start: int = 0) -> list[SampleFile]:
    """Seven kinds in turn, of one paragraph to forty; with `start`, others than the first ones."""
    makers = list(MAKERS.items())
    made = []
    for number in range(start, start + sizes.documents):
        ending, (mime_type, make) = makers[number % len(makers)]
        prose = Prose(number)
        title = prose.heading()
        content = make(title, list(pieces(prose, LENGTHS[number % len(LENGTHS)])))
        made.append(SampleFile(f"{number:04}.{ending}", mime_type, content))
    return made


def pieces(prose: Prose, paragraphs: int) -> Iterator[Piece]:
    """Paragraphs with a heading over every fourth and a table after every sixth."""
    for number in range(paragraphs):
        if number % 4 == 0:
            yield f"## {prose.heading()}"
        yield prose.paragraph()
        if number % 6 == 2:
            yield prose.table(8)


def large_pdf(sizes: Sizes) -> SampleFile:
    """About 3 KB of text a page, a table on every tenth."""
    prose = Prose(500)
    pages: list[list[Piece]] = []
    for number in range(sizes.pages):
        has_table = number % sizes.pages_a_table == 0
        words = sizes.page_words - (60 if has_table else 0)
        page: list[Piece] = [f"## {prose.heading()}", *(prose.paragraph(words // 4) for _ in range(4))]
        pages.append([*page, prose.table(6)] if has_table else page)
    return SampleFile("large.pdf", "application/pdf", pdf("A large one", pages, created=CREATED))


def edited(sizes: Sizes) -> tuple[SampleFile, SampleFile]:
    """A long text, and the same with one sentence in its middle changed."""
    prose = Prose(100)
    paragraphs = [prose.paragraph() for _ in range(sizes.edited_words // 86)]
    before = text_file("\n\n".join(paragraphs), "long.txt")
    middle = len(paragraphs) // 2
    sentences = paragraphs[middle].split(". ")
    sentences[1] = Prose(101).sentence().rstrip(".")
    paragraphs[middle] = ". ".join(sentences)
    return before, text_file("\n\n".join(paragraphs), "long.txt")


def notes(sizes: Sizes, seed: int = 1_000) -> list[SampleFile]:
    """Texts of at most a hundred words."""
    return [
        text_file(Prose(seed + number).words(sizes.note_words) + ".", f"note-{number}.txt")
        for number in range(sizes.notes)
    ]


def uploads(count: int, size: int, seed: int = 2_000) -> Iterator[SampleFile]:
    """Texts of exactly this many bytes, each another; the first words are enough to tell them apart."""
    prose = Prose(seed)
    body = "\n\n".join(prose.paragraph() for _ in range(size // 400 + 1))
    for number in range(count):
        text = f"Upload {seed} {number}. {prose.sentence()}\n\n{body}"
        yield text_file(text[:size], f"upload-{number}.txt")


def text_file(text: str, filename: str) -> SampleFile:
    return SampleFile(filename, "text/plain", text.encode())


def written(files: list[SampleFile], folder: Path) -> list[Path]:
    """Writes the files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        (folder / file.filename).write_bytes(file.content)
    return [folder / file.filename for file in files]


def _markdown(title: str, held: list[Piece]) -> bytes:
    return _lines(f"# {title}", held, "| {} |", " | ").encode()


def _text(title: str, held: list[Piece]) -> bytes:
    return _lines(title, held, "{}", "\t").replace("## ", "").encode()


def _lines(title: str, held: list[Piece], row: str, between: str) -> str:
    said = [title]
    for piece in held:
        if isinstance(piece, str):
            said.append(piece)
            continue
        lines = [row.format(between.join(cells)) for cells in piece]
        if row != "{}":
            lines.insert(1, row.format(between.join("---" for _ in piece[0])))
        said.append("\n".join(lines))
    return "\n\n".join(said) + "\n"


def _mail(title: str, held: list[Piece]) -> bytes:
    return eml(title, _text(title, held).decode(), sent=CREATED)


def _csv(title: str, held: list[Piece]) -> bytes:
    """As many rows as the other kinds have paragraphs, five times over."""
    rows = Prose(zlib.crc32(_text(title, held))).table(5 * len(held))
    out = io.StringIO()
    for name, amount, share, state in rows:
        out.write(f'{name},"{amount}",{share},{state}\n')
    return out.getvalue().encode()


Maker = Callable[[str, list[Piece]], bytes]
MAKERS: dict[str, tuple[str, Maker]] = {
    "pdf": ("application/pdf", lambda title, held: pdf(title, [held], created=CREATED)),
    "docx": (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        lambda title, held: docx(title, held, created=CREATED),
    ),
    "html": ("text/html", lambda title, held: html(title, held)),
    "md": ("text/markdown", _markdown),
    "eml": ("message/rfc822", _mail),
    "csv": ("text/csv", _csv),
    "txt": ("text/plain", _text),
}
