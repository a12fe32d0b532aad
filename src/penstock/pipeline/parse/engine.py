"""Calls xberg and maps its errors to our reasons. Only this module knows its options."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import xberg

from penstock.errors import DocumentRejected
from penstock.pipeline.parse.tessdata import how_to_install, missing_languages, tessdata_folder
from penstock.pipeline.reasons import Reason, rejected

_runner: asyncio.Runner | None = None

_ENCRYPTED = re.compile(r"encrypted|password", re.I)
_BOMB = re.compile(
    r"zip bomb|compression ratio|exceeds? (the )?(maximum|limit)|security limit|too (many|deep)", re.I
)
_CUT = re.compile(r"unexpected end|unexpected eof|eocd|premature|truncated", re.I)
_ESCAPED = re.compile(r"\\([<>#|~])")
_PICTURE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\]\n]+)\]\((?:https?:|mailto:|/|#|\.)[^)\s]*\)")


def extract(path: Path, *, mime_type: str, filename: str) -> xberg.ExtractedDocument:
    """Text, pages, tables and metadata, without OCR."""
    return _extracted(
        xberg.ExtractInput(kind="bytes", bytes=path.read_bytes(), filename=filename, mime_type=mime_type),
        xberg.ExtractionConfig(
            use_cache=False,
            output_format="markdown",
            escape_markdown=False,
            disable_ocr=True,
            enable_quality_processing=False,
            extraction_timeout_secs=None,  # the sandbox enforces the time limit
            pages=xberg.PageConfig(extract_pages=True),
            content_filter=xberg.ContentFilterConfig(include_footnotes=True),
            # The sandbox limits memory and time, and guards.py detects bombs; these would truncate a long
            # spreadsheet and reject a small file that compresses well.
            security_limits=xberg.SecurityLimits(
                max_archive_size=1 << 30,
                max_compression_ratio=2_000,
                max_content_size=1 << 30,
                max_iterations=1_000_000_000,
                max_table_cells=20_000_000,
            ),
        ),
    )


def recognize(picture: bytes, *, mime_type: str, language: str) -> str:
    """The words in a picture of one page, with places and confidence, as tesseract's table of values.

    Rejected if the language's data is missing: xberg would download it.
    """
    languages = language.split("+")
    if missing := missing_languages(language):
        raise rejected(
            Reason.OCR_UNAVAILABLE,
            f"reading pictures needs language data that is not installed: {', '.join(missing)}",
            f"{how_to_install(missing)}, then retry the document",
        )
    os.environ["TESSDATA_PREFIX"] = str(tessdata_folder())
    document = _extracted(
        xberg.ExtractInput(kind="bytes", bytes=picture, filename="picture", mime_type=mime_type),
        xberg.ExtractionConfig(
            use_cache=False,
            output_format="plain",
            extraction_timeout_secs=None,
            enable_quality_processing=False,
            ocr=xberg.OcrConfig(
                language=languages,
                # Its own table detection turns a whole page of prose into one table.
                tesseract_config=xberg.TesseractConfig(
                    language=languages,
                    psm=3,
                    output_format="tsv",
                    enable_table_detection=False,
                    use_cache=False,
                ),
            ),
        ),
    )
    return document.content


def prose(markdown: str) -> str:
    """Simplified Markdown: pictures become their description, links their text, no needless escapes."""
    return _ESCAPED.sub(_unescaped, _LINK.sub(r"\1", _PICTURE.sub(r"\1", markdown)))


def _unescaped(found: re.Match[str]) -> str:
    # A pipe in a cell and a hash at the start of a line must stay escaped, or they become structure.
    return found[0] if found[1] in "|#" else found[1]


def _extracted(wanted: xberg.ExtractInput, config: xberg.ExtractionConfig) -> xberg.ExtractedDocument:
    global _runner
    if _runner is None:
        _runner = asyncio.Runner()  # one per process: its threads call back into the loop
    try:
        answer = _runner.run(xberg.extract(wanted, config))
    except (RuntimeError, xberg.XbergError) as error:
        raise _reason(str(error)) from error
    if not answer.results:
        raise rejected(Reason.MALFORMED, "the parser found no document in it")
    return answer.results[0]


def _reason(said: str) -> DocumentRejected:
    words = said.splitlines()[0][:300] if said else "the parser gave no reason"
    if _ENCRYPTED.search(words):
        return rejected(Reason.ENCRYPTED, "the file is protected by a password")
    if _BOMB.search(words):
        return rejected(Reason.BOMB, words)
    if _CUT.search(words):
        return rejected(Reason.TRUNCATED, words)
    return rejected(Reason.MALFORMED, words)
