"""What `sniff` says of bytes, names and declarations."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import media, sniffing, text_media
from tests.integration.compound_files import compound


def _zip(*names: str, content_types: bytes = b"", pack: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", pack) as archive:
        if content_types:
            archive.writestr("[Content_Types].xml", content_types)
        for name in names:
            archive.writestr(name, b"<x/>" * 10)
    return held.getvalue()


def _packed_as(mime_type: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("mimetype", mime_type)
        archive.writestr("content.xml", "<x/>")
    return held.getvalue()


def _ole(stream: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + stream.encode("utf-16-le") + bytes(200)


def _mail() -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.com", "b@example.com", "The invoice"
    mail.set_content("Here it is.")
    return bytes(mail)


BMP = b"BM" + struct.pack("<IHHI", 70, 0, 0, 54) + struct.pack("<I", 40) + bytes(40)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", media.PDF),
        (b"\xef\xbb\xbf\n%PDF-1.4", media.PDF),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), media.PNG),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", media.JPEG),
        (b"II*\0" + bytes(8), media.TIFF),
        (b"MM\0*" + bytes(8), media.TIFF),
        (b"GIF89a" + bytes(8), media.GIF),
        (BMP, media.BMP),
        (b"RIFF\x10\0\0\0WEBPVP8 ", media.WEBP),
        (_zip("_rels/.rels", "word/document.xml"), media.DOCX),
        (_zip("docProps/app.xml", "ppt/presentation.xml"), media.PPTX),
        (_zip("xl/workbook.xml"), media.XLSX),
        (_zip(content_types=b"<Types>" + b" " * 900 + b"spreadsheetml.sheet.main+xml</Types>"), media.XLSX),
        (_zip("photos/1.jpg"), media.ZIP),
        (_ole("__substg1.0_0037001F"), media.MSG),
        (_ole("WordDocument"), media.OLE),
        (compound({("WordDocument",): b"x"}), media.DOC),
        (compound({("PowerPoint Document",): b"x", ("Current User",): b"x"}), media.PPT),
        (compound({("Workbook",): b"x"}), media.XLS),
        (compound({("EncryptedPackage",): b"x", ("EncryptionInfo",): b"x"}), media.OLE),
        (_packed_as("application/vnd.oasis.opendocument.text"), media.ODT),
        (_packed_as("application/vnd.oasis.opendocument.spreadsheet"), media.ODS),
        (_packed_as("application/vnd.oasis.opendocument.presentation"), media.ODP),
        (_packed_as("application/vnd.oasis.opendocument.text-template"), media.ODT),
        (_packed_as("application/epub+zip"), media.EPUB),
        (_packed_as("application/vnd.other"), media.ZIP),
        (b"{\\rtf1\\ansi words}", media.RTF),
        (b"\x7fELF\x02\x01\x01" + bytes(40), "application/x-executable"),
        (b"<!DOCTYPE html>\n<html><p>x", media.HTML),
        (b"<?xml version='1.0'?>\n<!-- made by hand -->\n<html xmlns='x'>", media.HTML),
        (b"<div><p>One</p><p>Two</p></div>", media.HTML),
        (_mail(), media.EML),
        (b"# Title\n\nSome **bold** words.\n", media.MARKDOWN),
        (b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n", media.CSV),
        (b'name;note;sum\n"x;y";b;1\nq;r;2\nu;v;3\n', media.CSV),
        (b"Dear Sir,\nthank you, and goodbye.\nYours, A.\n", media.TEXT),
        ("Grüße aus Köln".encode("utf-16"), media.TEXT),
        ("Plain words without a mark".encode("utf-16-le"), media.TEXT),
        ("café".encode("latin-1"), media.TEXT),
        (bytes(range(256)), media.UNKNOWN),
        (b"", media.EMPTY),
    ],
)
def test_content_alone_decides_the_type(head: bytes, kind: str) -> None:
    assert sniffing.sniff(head) == kind


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b'{"a": [1, 2]}', text_media.JSON),
        (b'[\n {"a": 1}]', text_media.JSON),
        (b'{"a": 1}\n{"a": 2}\n', text_media.JSON_LINES),
        (b'{"cells": [{"cell_type": "code"}]}', text_media.NOTEBOOK),
        (b"<?xml version='1.0'?>\n<catalog/>", text_media.XML),
        (b"<?xml version='1.0'?>\n<article><front><article-meta/></front></article>", text_media.JATS),
        (b"% a comment\n\\documentclass{article}\n", text_media.LATEX),
        (b"= Title\n:toc:\n\n== Section\n", text_media.ASCIIDOC),
        (b"Title\n=====\n\n.. note:: words\n", text_media.RST),
        (b"#+TITLE: Notes\n* One\n", text_media.ORG),
        (b"1\n00:00:01,000 --> 00:00:02,000\nHello\n", text_media.SUBRIP),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n", text_media.WEBVTT),
        (b"#!/usr/bin/env python3\nprint(1)\n", "text/x-python"),
        (b"\x1f\x8b\x08\0" + bytes(20), media.GZIP),
        (b"\xfd7zXZ\0" + bytes(20), media.XZ),
        (b"BZh91AY&SY" + bytes(20), media.BZIP2),
        (b"a.txt".ljust(257, b"\0") + b"ustar\x0000" + bytes(300), media.TAR),
        (b"{ curly words } of a poem", media.TEXT),
        (b"[1] A footnote, nothing more", media.TEXT),
    ],
)
def test_textual_kinds_are_told_by_their_signs(head: bytes, kind: str) -> None:
    assert sniffing.sniff(head) == kind


@pytest.mark.parametrize(
    ("filename", "kind"),
    [("a.txt", media.TEXT), ("a.log", media.TEXT), ("a.md", media.MARKDOWN), ("a.csv", media.CSV)],
)
def test_a_name_for_ordinary_text_is_believed(filename: str, kind: str) -> None:
    for head in (b'{"a": 1}\n{"a": 2}\n', b"#!/bin/sh\n", b"<?xml version='1.0'?><a/>", b"#+TITLE: a\n"):
        assert sniffing.sniff(head, filename=filename) == kind


def test_source_code_is_told_by_its_name() -> None:
    assert sniffing.sniff(b"int a;", filename="a.c", declared="text/plain") == "text/x-c"
    assert sniffing.sniff(b"a: b", filename="a.yaml") == media.TEXT


def test_a_file_that_contains_a_pdf_is_not_a_pdf() -> None:
    assert sniffing.sniff(_ole("__substg1.0_0037001F")[:512] + b"\n%PDF-1.4", filename="a.msg") == media.MSG
    assert sniffing.sniff(b"About the mark %PDF-1.4 of files.") == media.TEXT


def test_a_stray_nul_is_tolerated_where_text_was_declared() -> None:
    log = b"a line of a log\n" * 40 + b"\0"
    assert sniffing.sniff(log) == media.UNKNOWN
    assert sniffing.sniff(log, filename="server.log") == media.TEXT


def test_content_wins_over_name_and_declaration() -> None:
    assert sniffing.sniff(b"%PDF-1.7", filename="report.docx", declared="image/png") == media.PDF


@pytest.mark.parametrize(
    ("filename", "declared", "kind"),
    [
        ("notes.md", None, media.MARKDOWN),
        ("list.csv", None, media.CSV),
        ("NOTES.TXT", None, media.TEXT),
        (None, "text/markdown; charset=utf-8", media.MARKDOWN),
        (None, "application/csv", media.CSV),
        ("scan.pdf", None, media.TEXT),
        ("mail.eml", None, media.TEXT),
        (None, "application/octet-stream", media.TEXT),
    ],
)
def test_hints_decide_only_what_the_text_leaves_open(
    filename: str | None, declared: str | None, kind: str
) -> None:
    assert sniffing.sniff(b"just words, nothing more", filename=filename, declared=declared) == kind


def test_a_mail_with_one_known_header_is_a_mail_when_the_name_says_so() -> None:
    head = b"Subject: hello\n\nwords"
    assert sniffing.sniff(head) == media.TEXT
    assert sniffing.sniff(head, filename="x.eml") == media.EML


def test_an_office_file_whose_type_is_not_visible_in_its_head_is_trusted_by_its_name() -> None:
    packed = zlib.compress(b"y" * 10)
    head = (
        b"PK\x03\x04"
        + struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, 0, 90_000, 90_000, 5, 0)
        + b"a.bin"
        + packed
    )
    assert sniffing.sniff(head, filename="big.docx") == media.DOCX
    assert sniffing.sniff(head) == media.ZIP


@pytest.mark.parametrize("mime_type", sorted(media.SUPPORTED))
def test_every_supported_kind_has_an_ending_that_leads_back(mime_type: str) -> None:
    assert media.kind_of_name("x." + media.extension(mime_type)) == mime_type


def test_unknown_kinds_are_stored_as_bin() -> None:
    assert media.extension("application/x-what") == "bin"
    assert media.extension("image/JPG; q=1") == "jpg"


@given(head=st.binary(max_size=200), filename=st.text(max_size=10) | st.none(), declared=st.text(max_size=10))
def test_no_bytes_make_it_fail(head: bytes, filename: str | None, declared: str) -> None:
    for prefix in (b"", b"PK\x03\x04", b"BM", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"RIFF"):
        assert "/" in sniffing.sniff(prefix + head, filename=filename, declared=declared)
