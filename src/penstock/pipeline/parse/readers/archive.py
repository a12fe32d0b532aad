"""Reads ZIP archives: a list of the files in it, and each as a file of its own."""

from __future__ import annotations

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
_LITTER: Final = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


class ArchiveReader:
    """Writes one file at a time. Names are shown and kept, but never used as paths."""

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
                out.add_attachment(Attachment(_name(entry, number), _content(archive, entry)))
        listing = _listing(source.name, entries)
        return out.add(listing)


def _is_file(entry: zipfile.ZipInfo) -> bool:
    name = entry.filename.replace("\\", "/")
    last = name.rpartition("/")[2].lower()
    is_litter = name.startswith("__MACOSX/") or last in _LITTER
    return not entry.is_dir() and entry.file_size > 0 and bool(last) and not is_litter


def _name(entry: zipfile.ZipInfo, number: int) -> str:
    return bare(cleaned_line(entry.filename, 200) or f"file-{number}")


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(entry)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise rejected(Reason.MALFORMED, f"a file in the archive is damaged: {error}") from error
    except NotImplementedError as error:
        raise rejected(Reason.UNSUPPORTED, f"the archive is packed in an unusual way: {error}") from error


def _listing(name: str, entries: list[zipfile.ZipInfo]) -> Parsed:
    lines = [
        f"{cleaned_line(entry.filename, 500) or 'a file without a name'} ({entry.file_size:,} bytes)"
        for entry in entries
    ]
    title = cleaned_line(bare(name), 200)
    head = f"Archive {title} with {len(lines)} file{'s' if len(lines) != 1 else ''}:"
    return parsed(
        [(None, head), (None, "\n".join(lines))],
        parser="archive",
        about=FileMetadata(title=title),
        plain=True,
    )


READER = ArchiveReader()
