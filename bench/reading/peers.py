"""Other libraries' readings of a file, as Markdown or plain text."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pypdfium2  # type: ignore[import-untyped]  # it ships no types

from bench.reading.truth import Reading
from penstock.model import media, sniffing
from penstock.pipeline.chunk.heading_text import heading_text
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.blocks import assembled
from penstock.pipeline.parse.tessdata import tessdata_folder


def of_markdown(text: str) -> Reading:
    """With the paths of its headings."""
    said, blocks = assembled([(None, text)])
    above: list[tuple[int, str]] = []
    paths: list[tuple[str, ...]] = []
    for block in blocks:
        if block.kind == "heading":
            above = [(level, title) for level, title in above if level < block.level]
            above.append((block.level, heading_text(said[block.start : block.end])))
            paths.append(tuple(title for _, title in above))
    return Reading(said, tuple(paths))


def pdfium(path: Path) -> Reading:
    return Reading("\n".join(pdfium_pages(path)))


def pdfium_pages(path: Path) -> list[str]:
    """The text of each page as pdfium has it."""
    document = pypdfium2.PdfDocument(path)
    try:
        return [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()


def xberg(path: Path) -> Reading:
    kind = sniffing.sniff(path.read_bytes()[: sniffing.HEAD_BYTES], filename=path.name)
    document = engine.extract(path, mime_type=kind, filename=path.name)
    pages = [page.content for page in document.pages or ()] if kind == media.PDF else []
    return of_markdown("\n\n".join(pages) or document.content)


def xberg_by_ocr(path: Path) -> Reading:
    """With its own preparation of the picture, and the language data that Penstock uses."""
    library: Any = importlib.import_module("xberg")
    kind = sniffing.sniff(path.read_bytes()[: sniffing.HEAD_BYTES], filename=path.name)
    given = library.ExtractInput(kind="bytes", bytes=path.read_bytes(), filename=path.name, mime_type=kind)
    ocr = library.OcrConfig(language=["eng"], tesseract_config=library.TesseractConfig(language=["eng"]))
    config = library.ExtractionConfig(use_cache=False, output_format="markdown", ocr=ocr)
    # Its threads call back into the loop, so there is one loop per process.
    return of_markdown(engine._extracted(given, config).content)


def kreuzberg(path: Path) -> Reading:
    return _by_kreuzberg(path)


def kreuzberg_by_ocr(path: Path) -> Reading:
    library: Any = importlib.import_module("kreuzberg")
    return _by_kreuzberg(path, ocr=library.OcrConfig(backend="tesseract", language="eng"))


def _by_kreuzberg(path: Path, **options: object) -> Reading:
    library: Any = importlib.import_module("kreuzberg")
    config = library.ExtractionConfig(output_format="markdown", use_cache=False, **options)
    return of_markdown(library.extract_file_sync(str(path), config=config).content)


def markitdown(path: Path) -> Reading:
    """It has no OCR of its own: of a scan it reads what the file says of itself."""
    library: Any = importlib.import_module("markitdown")
    return of_markdown(library.MarkItDown(enable_plugins=False).convert_local(str(path)).text_content)


Read = Callable[[Path], Reading]
PEERS: Mapping[str, Read] = {
    "pdfium": pdfium,
    "xberg": xberg,
    "kreuzberg": kreuzberg,
    "markitdown": markitdown,
}
BY_OCR: Mapping[str, Read] = {
    "xberg": xberg_by_ocr,
    "kreuzberg": kreuzberg_by_ocr,
    "markitdown": markitdown,
}
"""How they read scans."""
_OPTIONAL = ("kreuzberg", "markitdown")


def reader_of(name: str, kind: str) -> Read | None:
    """A library's reader for a kind of file; None if the library is not meant for it."""
    if kind == "scan":
        os.environ.setdefault("TESSDATA_PREFIX", str(tessdata_folder()))
        return BY_OCR.get(name)
    return None if name == "pdfium" and kind != "pdf" else PEERS[name]


def missing() -> list[str]:
    """The libraries that are not installed; they come with the extra `bench`."""
    return [name for name in _OPTIONAL if importlib.util.find_spec(name) is None]
