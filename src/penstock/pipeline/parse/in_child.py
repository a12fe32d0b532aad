"""The function that parses in the sandbox: checks a file's type and calls its reader."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from penstock.errors import DocumentRejected
from penstock.model import media, sniffing
from penstock.pipeline.parse.garbage import collected_seldom
from penstock.pipeline.parse.protocol import FileReader, ParserInput, StreamingReader
from penstock.pipeline.parse.readers.by_kind import MODULES, reader_of
from penstock.pipeline.parsed_files import ParsedHead, ParsedWriter
from penstock.pipeline.reasons import Reason, rejected
from penstock.sandbox import GivenFile, OutputTooLarge

_OLE = frozenset({media.OLE, media.MSG}) | media.OLD_OFFICE


def load_reader(mime_type: str) -> None:
    """Import a type's reader in the process that calls are forked from, for the next file of that type."""
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
    """Parse the file into the three output files; raises DocumentRejected with one of the fixed reasons."""
    file = Path(document.path)
    kind, warnings = kind_of(file, mime_type, filename)
    out = ParsedWriter(text.descriptor, blocks.descriptor, attachments.descriptor, output_bytes)
    source = ParserInput(file, kind, filename or "document", ocr_language)
    reader = reader_of(kind)
    try:
        with collected_seldom():
            head = _read(reader, source, out)
    except (DocumentRejected, MemoryError, OSError, OutputTooLarge):
        raise  # OSError: the file cannot be read, which is not its fault
    except RecursionError as error:
        raise rejected(Reason.MALFORMED, "its parts are nested too deeply") from error
    except Exception as error:
        # A library failed on the file's content; it would fail again.
        raise rejected(
            Reason.CRASH, f"the reader of {kind} failed: {type(error).__name__}: {error}"
        ) from error
    if not head.characters:
        raise rejected(Reason.EMPTY, "the file contains no text")
    return dataclasses.replace(head, warnings=warnings + head.warnings)


def _read(reader: FileReader | StreamingReader, source: ParserInput, out: ParsedWriter) -> ParsedHead:
    if isinstance(reader, StreamingReader):
        return reader.read_into(source, out)
    parsed = reader.read(source)
    if not parsed.text.strip():
        raise rejected(Reason.EMPTY, "the file contains no text")
    return out.add(parsed)


def kind_of(path: Path, mime_type: str, filename: str | None) -> tuple[str, tuple[str, ...]]:
    """The file's type, by its content; a contradicting name or declared type is rejected."""
    with path.open("rb") as file:
        head = file.read(sniffing.HEAD_BYTES)
        while head and not head.strip():  # what is blank at the start does not make it empty
            head = file.read(sniffing.HEAD_BYTES)
        kind = sniffing.sniff(head, filename=filename, declared=mime_type)
        if kind in _OLE:  # its directory, which tells the type, may be anywhere
            file.seek(sniffing.ole_directory(head))
            kind = sniffing.kind_of_ole_directory(file.read(sniffing.OLE_DIRECTORY_BYTES)) or kind
    if kind == media.EMPTY or not head.strip():
        raise rejected(Reason.EMPTY, "the file is empty")
    promised = [
        one for one in (media.kind_of_name(filename), mime_type) if one in media.SUPPORTED and one != kind
    ]
    if kind == media.OLE and any(one in media.OFFICE | media.OLD_OFFICE for one in promised):
        raise rejected(Reason.ENCRYPTED, "the office file is protected by a password")
    if kind == media.ZIP and any(one in media.PACKAGES for one in promised):
        raise rejected(Reason.MISMATCH, f"the file should be {promised[0]}, but is a ZIP archive")
    if not promised:
        if kind not in media.SUPPORTED:
            raise rejected(Reason.UNSUPPORTED, f"files of type {kind} are not supported")
        return kind, ()
    # Text has no signature: if another type was declared, it is a damaged file of that type.
    if kind not in media.SUPPORTED or (
        kind in media.TEXTUAL and not all(one in media.TEXTUAL for one in promised)
    ):
        raise rejected(Reason.MISMATCH, f"the file should be {promised[0]}, but looks like {kind}")
    return kind, () if kind in media.TEXTUAL else (f"the file claims to be {promised[0]}, but is {kind}",)
