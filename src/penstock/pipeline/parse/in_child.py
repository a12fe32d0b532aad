"""The function that runs in the sandbox: checks what a file claims to be, and has it read."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from penstock.errors import DocumentRejected
from penstock.model import media
from penstock.pipeline.parse.protocol import Paper, StreamingReader
from penstock.pipeline.parse.readers.by_kind import MODULES, reader_of
from penstock.pipeline.parse.reasons import Reason, rejected
from penstock.pipeline.parse.spool import ParsedHead, ParsedWriter
from penstock.sandbox import GivenFile, OutputTooLarge


def load_reader(mime_type: str) -> None:
    """Import the reader of a kind where calls are forked from: the next file of the kind finds it loaded."""
    if mime_type in MODULES:
        reader_of(mime_type)


def read_document(
    document: GivenFile,
    text: GivenFile,
    blocks: GivenFile,
    attachments: GivenFile,
    filename: str | None,
    ocr_language: str,
    output_bytes: int,
    mime_type: str,
) -> ParsedHead:
    """Read the file into the three others; raises DocumentRejected with one of the fixed reasons."""
    file = Path(document.path)
    kind, warnings = kind_of(file, mime_type, filename)
    out = ParsedWriter(text.descriptor, blocks.descriptor, attachments.descriptor, output_bytes)
    paper = Paper(file, kind, filename or "document", ocr_language)
    reader = reader_of(kind)
    try:
        if isinstance(reader, StreamingReader):
            head = reader.read_into(paper, out)
        else:
            parsed = reader.read(paper)
            if not parsed.text.strip():
                raise rejected(Reason.EMPTY, "there are no words in the file")
            head = out.add(parsed)
    except (DocumentRejected, MemoryError, OSError, OutputTooLarge):
        raise  # OSError: the file is not there or cannot be read, which is not its fault
    except Exception as error:
        # A library stumbled over what is in the file; it would again.
        raise rejected(
            Reason.CRASH, f"the reader of {kind} fails: {type(error).__name__}: {error}"
        ) from error
    if not head.characters:
        raise rejected(Reason.EMPTY, "there are no words in the file")
    return dataclasses.replace(head, warnings=warnings + head.warnings)


def kind_of(path: Path, mime_type: str, filename: str | None) -> tuple[str, tuple[str, ...]]:
    """What the file is. Its content decides; a promise that the content does not keep is refused."""
    with path.open("rb") as file:
        head = file.read(media.HEAD_BYTES)
    kind = media.sniff(head, filename=filename, declared=mime_type)
    if kind == media.EMPTY or not head.strip():
        raise rejected(Reason.EMPTY, "the file is empty")
    promised = [
        one for one in (media.kind_of_name(filename), mime_type) if one in media.SUPPORTED and one != kind
    ]
    if kind == media.OLE and any(one in media.OFFICE for one in promised):
        raise rejected(Reason.ENCRYPTED, "the office file is protected by a password")
    if not promised:
        if kind not in media.SUPPORTED:
            raise rejected(Reason.UNSUPPORTED, f"files of the kind {kind} cannot be read")
        return kind, ()
    # Text has no mark of its own: where something else was promised, it is the wreck of that.
    if kind not in media.SUPPORTED or (
        kind in media.TEXTUAL and not all(one in media.TEXTUAL for one in promised)
    ):
        raise rejected(Reason.MISMATCH, f"the file should be {promised[0]} and its content looks like {kind}")
    return kind, () if kind in media.TEXTUAL else (f"the file says it is {promised[0]} but is {kind}",)
