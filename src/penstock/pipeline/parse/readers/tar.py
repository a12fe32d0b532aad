"""Reads TAR archives and packed files (gzip, bzip2, xz): each file in it becomes a file of its own."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final, cast

from penstock.model import Attachment, media, sniffing
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.guards import FREE_UNPACKED, MOST_RATIO, MOST_UNPACKED
from penstock.pipeline.parse.mail_message import bare
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.archive import LITTER, LONGEST_NAME, MOST_FILES, listing, member
from penstock.pipeline.parsed_files import ParsedHead, ParsedWriter
from penstock.pipeline.reasons import Reason, rejected

_PIECE: Final = 1 << 20
_MOST_MEMBERS: Final = 10 * MOST_FILES
"""Folders and links included."""
_XZ_MEMORY: Final = 256 << 20
_ENDINGS: Final = (".gz", ".tgz", ".bz2", ".tbz2", ".tbz", ".xz", ".txz")
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


class TarReader:
    """Unpacks as a stream within limits. Links and devices are left out; paths are kept, but never opened."""

    def read_into(self, source: ParserInput, out: ParsedWriter) -> ParsedHead:
        with _unpacked(source) as stream:
            head = stream.peek_tar()
            if sniffing.sniff(head) == media.TAR or (source.mime_type == media.TAR and len(head) == 512):
                entries, left_out = _members(stream, out)
            else:
                entries, left_out = [_single(source, stream, head, out)], 0
        if not entries:
            raise rejected(Reason.EMPTY, "the archive contains no files")
        warning = f"{left_out:,} links or special files in the archive were left out"
        return out.add(listing(source.name, entries, (warning,) if left_out else ()))


def _members(stream: _Unpacking, out: ParsedWriter) -> tuple[list[tuple[str, int]], int]:
    entries: list[tuple[str, int]] = []
    left_out = count = 0
    try:
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|", bufsize=65_536) as archive:
            for entry in archive:
                count += 1
                archive.members.clear()  # type: ignore[attr-defined]  # it would keep a description of each
                if count > _MOST_MEMBERS or len(entries) > MOST_FILES:
                    raise rejected(Reason.BOMB, f"the archive has more than {MOST_FILES:,} files")
                if not entry.isreg() or entry.issparse():
                    left_out += not entry.isdir()
                    continue
                name = cleaned_line(entry.name, LONGEST_NAME) or f"file-{count}"
                if entry.size > MOST_UNPACKED:
                    raise rejected(Reason.BOMB, f"a file in it has {entry.size >> 20:,} MB")
                if not entry.size or _is_litter(name):
                    continue
                held = archive.extractfile(entry)
                content = held.read() if held is not None else b""
                if len(content) < entry.size:
                    raise rejected(Reason.TRUNCATED, "the archive ends inside a file")
                out.add_attachment(member(name, content))
                entries.append((name, entry.size))
    except tarfile.TarError as error:
        cut = "unexpected end" in str(error) or stream.at_end
        reason = Reason.TRUNCATED if cut else Reason.MALFORMED
        raise rejected(reason, f"the archive is damaged: {error}") from error
    if len(entries) > MOST_FILES:
        raise rejected(Reason.BOMB, f"the archive has more than {MOST_FILES:,} files")
    return entries, left_out


def _is_litter(name: str) -> bool:
    last = name.replace("\\", "/").rpartition("/")[2].lower()
    return last in LITTER or last.startswith("._") or not last


def _single(source: ParserInput, stream: _Unpacking, head: bytes, out: ParsedWriter) -> tuple[str, int]:
    """The one file in a packed file that is no archive; it is called as before it was packed."""
    name = bare(cleaned_line(source.name, 200) or "file")
    for ending in _ENDINGS:
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)] + (".tar" if ending.startswith(".t") else "")
            break
    content = head + stream.read(-1)
    if not content:
        raise rejected(Reason.EMPTY, "the packed file is empty")
    out.add_attachment(Attachment(name, content))
    return name, len(content)


@contextmanager
def _unpacked(source: ParserInput) -> Iterator[_Unpacking]:
    packed = source.path.stat().st_size
    with source.path.open("rb") as file:
        opened: IO[bytes] = file
        if source.mime_type == media.GZIP:
            opened = cast("IO[bytes]", gzip.GzipFile(fileobj=file))
        elif source.mime_type == media.BZIP2:
            opened = cast("IO[bytes]", bz2.BZ2File(file))
        elif source.mime_type == media.XZ:
            opened = cast("IO[bytes]", _Xz(file))
        yield _Unpacking(opened, packed)


class _Unpacking:
    """Reads unpacked bytes; more than the limits allow are rejected before they are in memory."""

    def __init__(self, file: IO[bytes], packed: int) -> None:
        self._file = file
        self._packed = max(1, packed)
        self._held = b""
        self._taken = 0
        self.at_end = False

    def peek_tar(self) -> bytes:
        """The first 512 bytes, which stay to be read by an archive's reader."""
        self._held = self._more(512)
        return self._held

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            self._held = b""
            parts = []
            while part := self._more(_PIECE):
                parts.append(part)
            return b"".join(parts)
        held, self._held = self._held[:size], self._held[size:]
        return held + self._more(size - len(held)) if len(held) < size else held

    def _more(self, size: int) -> bytes:
        parts, left = [], size
        try:
            while left > 0 and (part := self._file.read(min(left, _PIECE))):
                parts.append(part)
                left -= len(part)
                self._count(len(part))
        except _BROKEN as error:
            reason = Reason.TRUNCATED if isinstance(error, EOFError) else Reason.MALFORMED
            raise rejected(reason, f"the packed file is damaged: {error}") from error
        self.at_end = left > 0
        return b"".join(parts)

    def _count(self, size: int) -> None:
        self._taken += size
        if self._taken > MOST_UNPACKED:
            raise rejected(Reason.BOMB, f"it unpacks to more than {MOST_UNPACKED >> 20:,} MB")
        if self._taken > FREE_UNPACKED and self._taken / self._packed > MOST_RATIO:
            raise rejected(Reason.BOMB, f"it unpacks to more than {MOST_RATIO:,} times its size")


class _Xz:
    """Unpacks xz within a limit of memory, which a hostile file would set to gigabytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._unpacker = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def read(self, size: int) -> bytes:
        while not self._unpacker.eof:
            data = self._file.read(65_536) if self._unpacker.needs_input else b""
            if self._unpacker.needs_input and not data:
                raise EOFError("the end of the packed data is missing")
            if found := self._unpacker.decompress(data, size):
                return found
        return b""


READER = TarReader()
