"""Damaged, protected and hostile files of the office kinds are rejected with their reason."""

from __future__ import annotations

import io
import struct
import zipfile
from functools import cache
from pathlib import Path

import pytest

from bench.reading.made.content import BOOKS, DOCUMENTS
from bench.reading.made.office import OLD
from bench.reading.made.open_formats import write_epub, write_ods, write_odt, write_rtf
from penstock.errors import DocumentRejected
from penstock.model import Parsed, media, sniffing
from penstock.pipeline.parse.in_child import kind_of
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.by_kind import reader_of
from penstock.pipeline.reasons import Reason
from tests.integration.compound_files import compound

PROTECTED_MANIFEST = b'<m><file-entry full-path="content.xml"><encryption-data/></file-entry></m>'
GROWING = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><x>&b;</x>'


def read(folder: Path, content: bytes, filename: str) -> Parsed:
    path = folder / "stored.bin"
    path.write_bytes(content)
    kind, _ = kind_of(path, sniffing.sniff(content[: sniffing.HEAD_BYTES], filename=filename), filename)
    return reader_of(kind).read(ParserInput(path, kind, filename))


def reason(folder: Path, content: bytes, filename: str) -> str:
    with pytest.raises(DocumentRejected) as caught:
        read(folder, content, filename)
    assert caught.value.remedy
    return caught.value.code


@cache
def old(name: str) -> bytes:
    with zipfile.ZipFile(OLD) as archive:
        return archive.read(name)


def package(mime_type: str, **parts: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", mime_type, zipfile.ZIP_STORED)
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return held.getvalue()


def test_protected_files_say_that_they_are(tmp_path: Path) -> None:
    word = struct.pack("<HH6xH", 0xA5EC, 0xC1, 0x0100).ljust(2_000, b"\0")
    assert reason(tmp_path, compound({("WordDocument",): word}), "a.doc") == Reason.ENCRYPTED
    book = struct.pack("<HH", 0x0809, 4) + bytes(4) + struct.pack("<HH", 0x002F, 6) + bytes(6)
    assert reason(tmp_path, compound({("Workbook",): book}), "a.xls") == Reason.ENCRYPTED
    user = bytes(12) + struct.pack("<II", 0xF3D1C4DF, 0)
    deck = compound({("PowerPoint Document",): bytes(100), ("Current User",): user})
    assert reason(tmp_path, deck, "a.ppt") == Reason.ENCRYPTED
    for kind, name in ((media.ODT, "a.odt"), (media.ODS, "a.ods"), (media.ODP, "a.odp")):
        content = package(kind, content_xml=b"noise", **{"META-INF__manifest_xml": PROTECTED_MANIFEST})
        assert reason(tmp_path, content, name) == Reason.ENCRYPTED
    rights = b'<e><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/aes"/></EncryptedData></e>'
    assert (
        reason(tmp_path, package(media.EPUB, **{"META-INF__encryption_xml": rights}), "a.epub")
        == Reason.ENCRYPTED
    )
    sealed = compound({("EncryptedPackage",): bytes(100)})
    assert reason(tmp_path, sealed, "a.doc") == Reason.ENCRYPTED


@pytest.mark.parametrize("name", ["handbook.doc", "kickoff.ppt", "stock.xls"])
def test_old_office_files_that_end_early_are_rejected(tmp_path: Path, name: str) -> None:
    content = old(name)
    for share in (3, 2):
        cut = content[: len(content) * (share - 1) // share]
        assert reason(tmp_path, cut, name) in (Reason.TRUNCATED, Reason.MALFORMED)


def test_packages_and_rich_text_that_end_early_are_rejected(tmp_path: Path) -> None:
    document = DOCUMENTS["handbook"]
    write_odt(document, tmp_path / "a.odt")
    write_epub(document, tmp_path / "a.epub")
    write_ods(BOOKS["stock"], tmp_path / "a.ods")
    write_rtf(document, tmp_path / "a.rtf")
    for name in ("a.odt", "a.epub", "a.ods"):
        content = (tmp_path / name).read_bytes()
        assert reason(tmp_path, content[: len(content) * 2 // 3], name) == Reason.TRUNCATED
    content = (tmp_path / "a.rtf").read_bytes()
    assert reason(tmp_path, content[: content.index(b"}")], "a.rtf") == Reason.TRUNCATED, "inside a group"


def test_bombs_are_rejected_before_they_are_unpacked(tmp_path: Path) -> None:
    for kind, name in ((media.ODT, "a.odt"), (media.EPUB, "a.epub")):
        assert reason(tmp_path, package(kind, content_xml=bytes(100 << 20)), name) == Reason.BOMB
    assert reason(tmp_path, package(media.ODT, content_xml=GROWING), "a.odt") == Reason.BOMB
    deep = b"{\\rtf1" + b"{" * 20_000 + b"}" * 20_001
    assert reason(tmp_path, deep, "a.rtf") == Reason.BOMB


def test_repeated_cells_do_not_fill_the_memory(tmp_path: Path) -> None:
    row = (
        b'<table-row number-rows-repeated="1048576"><table-cell number-columns-repeated="16384"/></table-row>'
    )
    said = b"<table-row><table-cell><p>words</p></table-cell><table-cell><p>more</p></table-cell></table-row>"
    sheet = b"<d><body><spreadsheet><table name='S'>" + said + row * 50 + b"</table></spreadsheet></body></d>"
    assert read(tmp_path, package(media.ODS, content_xml=sheet), "a.ods").text == (
        "## S\n\n| words | more |\n| --- | --- |"
    )


def test_content_decides_and_a_wrong_ending_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "stored.bin"
    path.write_bytes(old("handbook.doc"))
    kind, warnings = kind_of(path, media.XLS, "handbook.xls")
    assert (kind, len(warnings)) == (media.DOC, 1)
    path.write_bytes(b"just words")
    with pytest.raises(DocumentRejected) as caught:
        kind_of(path, media.TEXT, "handbook.doc")
    assert caught.value.code == Reason.MISMATCH


def test_hidden_sheets_are_counted_in_the_warnings(tmp_path: Path) -> None:
    parsed = read(tmp_path, old("stock.xls"), "stock.xls")
    assert parsed.warnings == ("1 hidden sheet was not read",)
    assert "shown" not in parsed.text
