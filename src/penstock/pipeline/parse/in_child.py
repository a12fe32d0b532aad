"""The function that runs in the sandbox: checks what a file claims to be, and has it read."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from penstock.errors import DocumentRejected
from penstock.model import Parsed, media
from penstock.pipeline.parse.protocol import Paper
from penstock.pipeline.parse.reasons import Reason, rejected


def read_document(path: str, mime_type: str, filename: str | None, ocr_language: str) -> Parsed:
    """Read the file; raises DocumentRejected with one of the fixed reasons."""
    # Here and not above: the parent imports this module to name the function, and must stay small.
    from penstock.pipeline.parse.readers.shelf import READER_OF

    file = Path(path)
    kind, warnings = kind_of(file, mime_type, filename)
    try:
        parsed = READER_OF[kind].read(Paper(file, kind, filename, ocr_language))
    except (DocumentRejected, MemoryError, OSError):
        raise  # OSError: the file is not there or cannot be read, which is not its fault
    except Exception as error:
        # A library stumbled over what is in the file; it would again.
        raise rejected(
            Reason.CRASH, f"the reader of {kind} fails: {type(error).__name__}: {error}"
        ) from error
    if not parsed.text.strip():
        raise rejected(Reason.EMPTY, "there are no words in the file")
    return dataclasses.replace(parsed, warnings=warnings + parsed.warnings)


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
