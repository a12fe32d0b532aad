"""Reads ZIP archives: a list of the files in it, and each as a file of its own."""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import Final

from penstock.model import Attachment, Parsed
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.guards import check_archive
from penstock.pipeline.parse.mail_message import bare
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import FileMetadata, parsed
from penstock.pipeline.parsed_files import ParsedHead, ParsedWriter
from penstock.pipeline.reasons import Reason, rejected

MOST_FILES: Final = 500
LONGEST_PATH: Final = 500
"""Characters; of a longer path the end is kept, which has the file's name."""
LONGEST_NAME: Final = 4_000
_LONGEST_FILENAME: Final = 200
_DRIVE: Final = re.compile(r"[A-Za-z]:")
LITTER: Final = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


class ArchiveReader:
    """Writes one file at a time. Names and paths are shown and kept, but never opened."""

    def read_into(self, source: ParserInput, out: ParsedWriter) -> ParsedHead:
        check_archive(source.path, "archive", most=10 * MOST_FILES)
        with zipfile.ZipFile(source.path) as archive:
            entries = [entry for entry in archive.infolist() if _is_file(entry)]
            if not entries:
                raise rejected(Reason.EMPTY, "the archive contains no files")
            if len(entries) > MOST_FILES:
                raise rejected(
                    Reason.BOMB, f"the archive has {len(entries):,} files, more than {MOST_FILES:,}"
                )
            for number, entry in enumerate(entries, start=1):
                name = cleaned_line(entry.filename, LONGEST_NAME) or f"file-{number}"
                out.add_attachment(member(name, _content(archive, entry)))
        return out.add(listing(source.name, [(entry.filename, entry.file_size) for entry in entries]))


def _is_file(entry: zipfile.ZipInfo) -> bool:
    name = entry.filename.replace("\\", "/")
    last = name.rpartition("/")[2].lower()
    is_litter = name.startswith("__MACOSX/") or last in LITTER
    return not entry.is_dir() and entry.file_size > 0 and bool(last) and not is_litter


def member(name: str, content: bytes) -> Attachment:
    """A file of an archive with its path, by which files of one name are told apart.

    The path is shown and never opened; it has no `..`, no drive, and does not start at the root.
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part.strip() not in ("", ".", "..")]
    if parts and _DRIVE.fullmatch(parts[0]):
        del parts[0]
    path = "/".join(parts)
    return Attachment(bare(name)[-_LONGEST_FILENAME:], content, path=path[-LONGEST_PATH:].lstrip("/") or None)


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(entry)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise rejected(Reason.MALFORMED, f"a file in the archive is damaged: {error}") from error
    except NotImplementedError as error:
        raise rejected(Reason.UNSUPPORTED, f"the archive is packed in an unusual way: {error}") from error


def listing(name: str, entries: list[tuple[str, int]], warnings: tuple[str, ...] = ()) -> Parsed:
    """The archive's own text: the names and sizes of its files."""
    lines = [
        f"{cleaned_line(each, 500) or 'a file without a name'} ({size:,} bytes)" for each, size in entries
    ]
    title = cleaned_line(bare(name), 200)
    head = f"Archive {title} with {len(lines)} file{'s' if len(lines) != 1 else ''}:"
    return parsed(
        [(None, head), (None, "\n".join(lines))],
        parser="archive",
        about=FileMetadata(title=title),
        plain=True,
        warnings=warnings,
    )


READER = ArchiveReader()
