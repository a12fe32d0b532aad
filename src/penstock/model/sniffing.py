"""Detects a file's media type from its first bytes."""

from __future__ import annotations

import codecs
import re
import struct
import zlib

from penstock.model import text_media
from penstock.model.media import (
    BMP,
    BZIP2,
    CSV,
    DOC,
    DOCX,
    EML,
    EMPTY,
    EPUB,
    GIF,
    GZIP,
    HTML,
    JPEG,
    MARKDOWN,
    MSG,
    ODP,
    ODS,
    ODT,
    OLD_OFFICE,
    OLE,
    PACKAGES,
    PDF,
    PNG,
    PPT,
    PPTX,
    RTF,
    TAR,
    TEXT,
    TEXTUAL,
    TIFF,
    TNEF,
    UNKNOWN,
    WEBP,
    XLS,
    XLSX,
    XZ,
    ZIP,
    declared_kind,
    kind_of_name,
)

HEAD_BYTES = 8_192
"""How many bytes `sniff` needs for full certainty; it works with fewer."""
_MAGIC_BYTES = 65_536
"""How many of them are searched for signatures of binary files."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"II+\x00", TIFF),
    (b"MM\x00+", TIFF),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"\x78\x9f\x3e\x22", TNEF),
    (b"\x1f\x8b", GZIP),
    (b"\xfd7zXZ\x00", XZ),
    (b"7z\xbc\xaf'\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x7fELF", "application/x-executable"),
    (b"%!PS", "application/postscript"),
    (b"{\\rtf", RTF),
    (b"\xef\xbb\xbf{\\rtf", RTF),
)
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")
_PDF_MARK = re.compile(rb"(?:^|[\r\n]|\xef\xbb\xbf)%PDF-\d")
_BOOK = b"application/oebps-package+xml"
_OFFICE_FOLDERS = ((b"word/", DOCX), (b"ppt/", PPTX), (b"xl/", XLSX))
_OFFICE_MARKS = ((b"wordprocessingml", DOCX), (b"presentationml", PPTX), (b"spreadsheetml", XLSX))
_MIMETYPE_MARKS = (
    (b"application/epub+zip", EPUB),
    *((kind.encode(), kind) for kind in (ODT, ODS, ODP)),  # templates have the name with an ending
)
_OLE_STREAMS = (("WordDocument", DOC), ("PowerPoint Document", PPT), ("Workbook", XLS), ("Book", XLS))
_OLE_SECTOR = 512
_OLE_MAGIC = (
    (b"\xec\xa5", DOC),
    (b"\x09\x08\x10\x00\x00\x06", XLS),
    (b"\x0f\x00\xe8\x03", PPT),
    (b"\x00\x6e\x1e\xf0", PPT),
)
OLE_DIRECTORY_BYTES = 4_096
"""How much of an OLE file's directory is enough to tell its type."""
_BYTE_ORDERS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# No pattern can start a match inside another attempt, so each takes linear time.
_HTML_START = re.compile(r"<(!doctype\s++html|html|head|body)\b", re.I)
_HTML_TAGS = re.compile(r"</?(p|div|h[1-6]|table|tr|td|ul|ol|li|span|br|a|title|meta|script)\b[^<>]*+>", re.I)
_SPACES = re.compile(r"\s*+")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # not tab, line feed, form feed, return, escape
_MAIL_HEADER = re.compile(r"^([!-9;-~]++):", re.M)
_MAIL_NAMES = {"from", "to", "subject", "date", "received", "message-id", "mime-version", "return-path"}
_MARKDOWN_SIGNS = (
    re.compile(r"^#{1,6} \S", re.M),
    re.compile(r"^(```|~~~)", re.M),
    re.compile(r"\[[^\[\]\n]++\]\([^()\[\]\s]++\)"),
    re.compile(r"^\|?[ \t]*+:?-{3,}+:?[ \t]*+\|", re.M),
    re.compile(r"\*\*[^\s*][^*\n]*+\*\*"),
)


def sniff(head: bytes, *, filename: str | None = None, declared: str | None = None) -> str:
    """The type of a file that begins with `head`; name and declared type decide what bytes cannot."""
    if not head:
        return EMPTY
    hints = tuple(hint for hint in (kind_of_name(filename), declared_kind(declared)) if hint is not None)
    return _by_magic(head[:_MAGIC_BYTES], hints) or _by_text(head[:HEAD_BYTES], hints) or UNKNOWN


def text_encoding(head: bytes) -> str | None:
    """The encoding indicated by a byte order mark or the pattern of NULs; None if unclear."""
    for mark, encoding in _BYTE_ORDERS:
        if head.startswith(mark):
            return encoding
    sample = head[: len(head) & ~1]
    pairs = len(sample) // 2
    if pairs >= 4:
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        if odd > pairs * 0.4 and even < pairs * 0.05:
            return "utf-16-le"
        if even > pairs * 0.4 and odd < pairs * 0.05:
            return "utf-16-be"
    return None


def _by_magic(head: bytes, hints: tuple[str, ...]) -> str | None:
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return WEBP
    if (
        head.startswith(b"BM")
        and len(head) >= 18
        and struct.unpack_from("<I", head, 14)[0] in (12, 40, 52, 56, 108, 124)
    ):
        return BMP
    if head.startswith(b"BZh") and head[3:4].isdigit() and head[4:10] in _BZIP2_BLOCKS:
        return BZIP2
    if _is_tar(head):
        return TAR
    if head.startswith(b"MZ") and b"\0" in head[:64]:
        return "application/vnd.microsoft.portable-executable"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(head, hints)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _ole_kind(head, hints)
    # PDF readers tolerate bytes before the signature, but other files may contain a PDF: so this comes last.
    return PDF if _PDF_MARK.search(head, 0, 1_024) else None


def _zip_kind(head: bytes, hints: tuple[str, ...]) -> str:
    """Decided by names in the local headers, then [Content_Types].xml if within the head, then the hints."""
    at, length = 0, len(head)
    listing = contained = False
    while at + 30 <= length and head[at : at + 4] == b"PK\x03\x04":
        method, packed = struct.unpack_from("<H", head, at + 8)[0], struct.unpack_from("<I", head, at + 18)[0]
        name_length, extra_length = struct.unpack_from("<HH", head, at + 26)
        name = head[at + 30 : at + 30 + name_length]
        for folder, kind in _OFFICE_FOLDERS:
            if name.startswith(folder):
                return kind
        data = at + 30 + name_length + extra_length
        if name == b"mimetype" and at == 0:
            declared = _unpacked(head[data : data + packed if packed else data + 200], method)[:200]
            for mark, kind in _MIMETYPE_MARKS:
                if declared.startswith(mark):
                    return kind
        if name == b"META-INF/container.xml" and not contained:
            contained = True
            if _BOOK in _unpacked(head[data : data + packed if packed else length], method):
                return EPUB  # without the entry `mimetype` that its standard asks for
        if name == b"[Content_Types].xml" and not listing:
            listing = True  # a second one is an attack: each would be unpacked again
            listed = _unpacked(head[data : data + packed if packed else length], method)
            for mark, kind in _OFFICE_MARKS:
                if mark in listed:
                    return kind
        # A packed size of 0 means a data descriptor follows: search for the next header.
        at = data + packed if packed else head.find(b"PK\x03\x04", data)
        if at < 0:
            break
    # The head may end before the decisive entry; then trust a hint that says it is an office file.
    return next((hint for hint in hints if hint in PACKAGES), ZIP) if at >= length - 30 or at < 0 else ZIP


def _is_tar(head: bytes) -> bool:
    """By the mark in the first header, or by its checksum, since old archives have no mark."""
    if len(head) < 512:
        return False
    if head[257:262] == b"ustar":
        return True
    said = head[148:156].strip(b" \0")
    if not head[0] or not said.isdigit() or len(said) > 7 or any(digit in b"89" for digit in said):
        return False
    return int(said, 8) == sum(head[:148]) + 8 * 32 + sum(head[156:512])


def _unpacked(data: bytes, method: int) -> bytes:
    if method != zlib.DEFLATED:
        return data
    try:
        return zlib.decompressobj(-15).decompress(data, 65_536)
    except zlib.error:
        return b""


def _ole_kind(head: bytes, hints: tuple[str, ...]) -> str:
    """By the directory if it lies within the head, by how the first stream begins, then by the hints."""
    if _wide("__substg1.0_") in head or _wide("__nameid_version1.0") in head:
        return MSG
    start = ole_directory(head)
    kind = kind_of_ole_directory(head[start : start + OLE_DIRECTORY_BYTES])
    if kind is not None:
        return kind
    for magic, found in _OLE_MAGIC:
        if head.startswith(magic, _OLE_SECTOR):
            return found
    return next((hint for hint in hints if hint == MSG or hint in OLD_OFFICE), OLE)


def ole_directory(head: bytes) -> int:
    """Where the directory of an OLE file starts, as its header says."""
    if len(head) < 52:
        return 0
    shift, first = struct.unpack_from("<H", head, 30)[0], struct.unpack_from("<I", head, 48)[0]
    return int((first + 1) << (shift if shift in (9, 12) else 9))


def kind_of_ole_directory(directory: bytes) -> str | None:
    """The type of an OLE file by the first sectors of its directory; None if it does not tell."""
    if not directory.startswith(_wide("Root Entry")):
        return None
    names = {
        directory[at : at + length - 2].decode("utf-16-le", "replace")
        for at in range(0, len(directory) - 66, 128)
        if 4 <= (length := struct.unpack_from("<H", directory, at + 64)[0]) <= 64
    }
    if any(
        name.startswith(("__substg1.0_", "__nameid_version1.0", "__properties_version1.0")) for name in names
    ):
        return MSG
    if "EncryptedPackage" in names:
        return OLE
    return next((kind for name, kind in _OLE_STREAMS if name in names), None)


def _wide(name: str) -> bytes:
    return name.encode("utf-16-le")


def _by_text(head: bytes, hints: tuple[str, ...]) -> str | None:
    text = _as_text(head, lenient=any(hint in TEXTUAL for hint in hints))
    if text is None:
        return None
    if _starts_as_html(text):
        return HTML
    if _looks_like_mail(text):
        return EML
    for kind in (HTML, MARKDOWN, CSV, EML):
        if kind in hints and (kind != EML or _MAIL_HEADER.match(text)):
            return kind
    for kind in hints:
        if kind == TEXT or kind in text_media.ALL:
            return text_media.refined(kind, text)
    if clear := text_media.by_clear_sign(text):
        return clear
    if len(_HTML_TAGS.findall(text)) >= 4 and text.lstrip().startswith("<"):
        return HTML
    if sum(bool(sign.search(text)) for sign in _MARKDOWN_SIGNS) >= 2:
        return MARKDOWN
    if likely := text_media.by_weak_sign(text):
        return likely
    return CSV if _looks_like_table(text) else TEXT


def _starts_as_html(text: str) -> bool:
    """Whether the first tag, after any XML declaration and comments, is one that starts an HTML page."""
    at = _past_spaces(text, 0)
    if text.startswith("<?xml", at):
        at = _past_spaces(text, text.find(">", at) + 1 or len(text))
    while text.startswith("<!--", at):
        end = text.find("-->", at + 4)
        if end < 0:
            return False
        at = _past_spaces(text, end + 3)
    return _HTML_START.match(text, at) is not None


def _past_spaces(text: str, at: int) -> int:
    match = _SPACES.match(text, at)
    assert match is not None
    return match.end()


def _as_text(head: bytes, *, lenient: bool) -> str | None:
    """The head as text, or None if it has bytes that text never has; `lenient` tolerates a stray NUL."""
    encoding = text_encoding(head)
    text = head.decode(encoding or "latin-1", "ignore").lstrip("\ufeff")
    controls = len(_CONTROLS.findall(text))
    if encoding is None and b"\0" in head and not lenient:
        return None
    return text if controls <= len(text) // 100 else None


def _looks_like_mail(text: str) -> bool:
    headers = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]
    if not _MAIL_HEADER.match(
        headers.removeprefix("From ").lstrip() if headers.startswith("From ") else headers
    ):
        return False
    names = {name.lower() for name in _MAIL_HEADER.findall(headers)}
    return len(names & _MAIL_NAMES) >= 3


def _looks_like_table(text: str) -> bool:
    lines = [line for line in text.splitlines()[:21] if line.strip()]
    lines = lines[:-1] if len(lines) > 3 else lines  # the head may end within the last line
    if len(lines) < 3:
        return False
    for delimiter in ",;\t|":
        counts = {re.sub(r'"[^"]*"', "", line).count(delimiter) for line in lines}
        if len(counts) == 1 and counts.pop() >= 2:
            return True
    return False
