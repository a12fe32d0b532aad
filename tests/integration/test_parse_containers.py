"""Files inside archives and winmail.dat become files of their own, within limits."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from penstock.cli.ingest.summary import Submitted, Summary
from penstock.documents.progress import IngestProgress
from penstock.documents.rows import Document
from penstock.model import Parsed, media
from penstock.pipeline.reasons import Reason
from tests.integration.test_parse_reasons import refused
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.parsing import Parse
from tests.plugins.workers import eventually


def archive(*files: tuple[str, bytes], pack: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", pack) as made:
        for name, content in files:
            made.writestr(name, content)
    return held.getvalue()


def attribute(level: int, kind: int, number: int, value: bytes) -> bytes:
    tag = kind << 16 | number
    return struct.pack("<BII", level, tag, len(value)) + value + struct.pack("<H", sum(value) & 0xFFFF)


def properties(*given: tuple[int, int, bytes]) -> bytes:
    made = struct.pack("<I", len(given))
    for kind, number, value in given:
        made += struct.pack("<HH", kind, number)
        if kind in (0x1E, 0x1F, 0x102, 0x0D):
            made += struct.pack("<II", 1, len(value)) + value + bytes(-len(value) % 4)
        else:
            made += value
    return made


def tnef(subject: str, body: str, files: Iterable[tuple[str, bytes]] = (), embedded: bytes = b"") -> bytes:
    made = b"\x78\x9f\x3e\x22" + struct.pack("<H", 1)
    made += attribute(1, 6, 0x9007, struct.pack("<II", 1252, 0))
    made += attribute(1, 1, 0x8004, subject.encode("cp1252") + b"\0")
    made += attribute(1, 3, 0x8005, struct.pack("<7H", 2026, 3, 4, 5, 6, 7, 3))
    text = (body + "\0").encode("utf-16-le")
    named = struct.pack("<HH16sII", 3, 0x8123, bytes(16), 0, 5) + struct.pack("<I", 7)
    given = properties((0x1F, 0x1000, text), (0x0B, 0x0E1B, bytes(4)))
    made += attribute(1, 6, 0x9003, struct.pack("<I", 3) + given[4:] + named)
    for name, content in files:
        made += attribute(2, 6, 0x9002, bytes(14))
        made += attribute(2, 1, 0x8010, b"SHORT~1.PDF\0")
        made += attribute(2, 6, 0x800F, content)
        long = (name + "\0").encode("utf-16-le")
        made += attribute(2, 6, 0x9005, properties((0x1F, 0x3707, long)))
    if embedded:
        made += attribute(2, 6, 0x9002, bytes(14))
        made += attribute(2, 6, 0x9005, properties((0x0D, 0x3701, bytes(16) + embedded)))
    return made


def names(parsed: Parsed) -> list[str]:
    return [each.filename for each in parsed.attachments]


def test_the_files_of_an_archive_are_listed_and_become_files_of_their_own(parse: Parse) -> None:
    content = archive(
        ("invoices/2026/march.txt", b"March: 12 EUR"),
        ("../../etc/passwd", b"root"),
        ("__MACOSX/._march.txt", b"x"),
        ("notes/", b""),
        ("empty.txt", b""),
    )
    parsed = parse(content, "invoices.zip")
    assert parsed.parser == "archive"
    assert "invoices/2026/march.txt (13 bytes)" in parsed.text
    assert [(each.filename, each.content, each.path) for each in parsed.attachments] == [
        ("march.txt", b"March: 12 EUR", "invoices/2026/march.txt"),
        ("passwd", b"root", "etc/passwd"),
    ]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a/x.md", "a/x.md"),
        ("/etc//./x.md", "etc/x.md"),
        ("..\\..\\C:\\x.md", "x.md"),
        ("C:\\notes\\x.md", "notes/x.md"),
        ("deep/" * 300 + "x.md", "deep/" * 99 + "x.md"),
    ],
)
def test_members_of_archives_keep_their_path_without_a_way_out(parse: Parse, name: str, path: str) -> None:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as made:
        entry = tarfile.TarInfo(name)
        entry.size = 5
        made.addfile(entry, io.BytesIO(b"words"))
    for content, filename in ((archive((name, b"words")), "a.zip"), (held.getvalue(), "a.tar.gz")):
        assert [each.path for each in parse(content, filename).attachments] == [path], filename


@pytest.mark.parametrize(
    ("reason", "content"),
    [
        (Reason.EMPTY, archive(("folder/", b""))),
        (Reason.BOMB, archive(*((f"{number}.txt", b"x") for number in range(501)))),
        (Reason.BOMB, archive(("zeros", bytes(100 << 20)))),
        (Reason.TRUNCATED, archive(("a.txt", b"words" * 1_000), pack=zipfile.ZIP_STORED)[:3_000]),
        (
            Reason.MALFORMED,
            archive(("a.txt", b"words" * 100), pack=zipfile.ZIP_STORED).replace(
                b"wordswords", b"wordxwords", 1
            ),
        ),
    ],
    ids=("empty", "many", "bomb", "cut", "damaged"),
)
def test_a_bad_archive_is_refused_with_its_reason(parse: Parse, reason: Reason, content: bytes) -> None:
    assert refused(parse, content, "files.zip").code == reason


def test_a_protected_archive_says_what_to_do(parse: Parse) -> None:
    content = bytearray(archive(("a.txt", b"words")))
    content[6] |= 1  # the local header's flag, and the directory's
    content[content.index(b"PK\x01\x02") + 8] |= 1
    rejected = refused(parse, bytes(content), "secret.zip")
    assert rejected.code == Reason.ENCRYPTED
    assert "Remove the password" in rejected.remedy


def test_a_damaged_office_file_is_not_read_as_an_archive(parse: Parse) -> None:
    assert refused(parse, archive(("a.txt", b"words")), "letter.docx").code == Reason.MISMATCH


def test_winmail_dat_gives_back_the_text_and_the_files_in_it(parse: Parse) -> None:
    content = tnef("Rechnung März", "Anbei die Rechnung.", [("Rechnung März.txt", b"42 EUR")])
    parsed = parse(content, "winmail.dat", "application/ms-tnef")
    assert (parsed.parser, parsed.title) == ("tnef", "Rechnung März")
    assert "Anbei die Rechnung." in parsed.text
    assert [(each.filename, each.content) for each in parsed.attachments] == [
        ("Rechnung März.txt", b"42 EUR")
    ]


def test_a_mail_inside_winmail_dat_keeps_its_own_files(parse: Parse) -> None:
    inner = tnef("Inner", "The inner mail.", [("inner.txt", b"inside")])
    [held] = parse(tnef("Outer", "", embedded=inner), "winmail.dat").attachments
    assert (held.mime_type, held.content) == (media.TNEF, inner)
    assert names(parse(held.content, held.filename)) == ["inner.txt"]


@pytest.mark.parametrize("cut", [8, 40, 100, 200, -1])
def test_a_damaged_winmail_dat_is_refused(parse: Parse, cut: int) -> None:
    content = tnef("Subject", "Body", [("a.txt", b"words" * 20)])
    assert refused(parse, content[:cut] if cut > 0 else content[:-60], "winmail.dat").code == Reason.MALFORMED


def test_a_length_that_lies_is_refused_and_nothing_is_allocated(parse: Parse) -> None:
    huge = b"\x78\x9f\x3e\x22\x01\x00" + struct.pack("<BII", 1, 0x18004, 0xFFFF_FFF0) + b"x"
    assert refused(parse, huge, "winmail.dat").code == Reason.MALFORMED
    many = b"\x78\x9f\x3e\x22\x01\x00" + attribute(1, 6, 0x9003, struct.pack("<I", 0xFFFF_FFFF))
    assert refused(parse, many, "winmail.dat").code == Reason.MALFORMED


async def test_files_inside_archives_become_documents_five_deep_and_no_deeper(
    database: Database, tmp_path: Path
) -> None:
    content = b"The innermost file."
    for depth in range(8):
        content = archive((f"level{depth}.zip" if depth else "innermost.txt", content))
    async with works_on(database, tmp_path) as works, works.working():
        outer = await works.index(content, "outer.zip")
        assert outer.status == "indexed"
        count = "select count(*) from ingest.document where status = 'indexed'"

        async def six() -> bool:
            return int(await works.value(count)) == 6

        await eventually(six, within=60)
        warned = "select filename from ingest.document where warnings::text like '%nested more than 5 deep%'"
        assert await works.value(warned) == "level3.zip"
        assert await works.value("select count(*) from ingest.document") == 6


async def test_members_of_one_name_are_told_apart_by_their_path(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        outer = await works.index(archive(("a/x.md", b"# First"), ("b/x.md", b"# Second")), "notes.zip")
        found: list[Document] = []

        async def both() -> bool:
            page = await works.engine.documents.list(works.tenant_id)
            found[:] = [each for each in page.items if each.parent_document_id == outer.document_id]
            return [each.status for each in found] == ["indexed"] * 2

        await eventually(both, within=60)
        assert {each.title: (each.name, each.filename) for each in found} == {
            "First": ("a/x.md", "x.md"),
            "Second": ("b/x.md", "x.md"),
        }
        following = IngestProgress(works.engine.documents, works.tenant_id, "default")
        following.ended = {each.document_id: each for each in found}
        following.attachments = {each.document_id for each in found}
        summary = Summary((Submitted(Path("notes.zip")),), following, (), waited=True, seconds=1.0)
        assert summary.total() == "3 documents: 1 file and 2 attachments and archive members"
        assert {row["path"] for row in summary.rows()} == {"notes.zip", "a/x.md", "b/x.md"}
