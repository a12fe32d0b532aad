"""Archives and markup that were made to do harm are refused, or do none."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile

import pytest

from penstock.pipeline.reasons import Reason
from tests.integration.test_parse_reasons import refused
from tests.plugins.parsing import Parse


def tar(*files: tuple[str, bytes], links: bool = False) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as made:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE) if links else ():
            member = tarfile.TarInfo("special")
            member.type, member.linkname = kind, "/etc/passwd"
            made.addfile(member)
    return held.getvalue()


FILES = (("notes/march.txt", b"March: 12 EUR"), ("../../etc/passwd", b"root"), ("empty.txt", b""))


@pytest.mark.parametrize(
    ("name", "pack"),
    [("a.tar", bytes), ("a.tar.gz", gzip.compress), ("a.tbz2", bz2.compress), ("a.txz", lzma.compress)],
)
def test_the_files_of_a_tar_archive_become_files_of_their_own(parse: Parse, name: str, pack: type) -> None:
    parsed = parse(pack(tar(*FILES, links=True)), name)
    assert parsed.parser == "archive"
    assert [(each.filename, each.content) for each in parsed.attachments] == [
        ("march.txt", b"March: 12 EUR"),
        ("passwd", b"root"),
    ]
    assert parsed.warnings == ("4 links or special files in the archive were left out",)


def test_a_packed_file_becomes_a_file_of_its_own(parse: Parse) -> None:
    parsed = parse(gzip.compress(b"plain words"), "notes.txt.gz")
    assert [(each.filename, each.content) for each in parsed.attachments] == [("notes.txt", b"plain words")]


@pytest.mark.parametrize(
    ("reason", "name", "content"),
    [
        (Reason.BOMB, "many.tar", tar(*((f"{number}.txt", b"x") for number in range(501)))),
        (Reason.BOMB, "zeros.gz", gzip.compress(bytes(70 << 20))),
        (Reason.TRUNCATED, "cut.tar.gz", gzip.compress(tar(*FILES))[:-40]),
        (Reason.TRUNCATED, "cut.tar", tar(("a.txt", b"words" * 1_000))[:2_000]),
        (Reason.EMPTY, "empty.tar", tar(("folder/empty.txt", b""))),
        (
            Reason.BOMB,
            "laughs.xml",
            b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><a>&b;</a>',
        ),
        (Reason.BOMB, "blowup.xml", b'<!DOCTYPE a [<!ENTITY a "' + b"x" * 5_000 + b'">]><a>&a;</a>'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_archives_and_entities_are_refused(
    parse: Parse, reason: Reason, name: str, content: bytes
) -> None:
    assert refused(parse, content, name).code == reason


def test_an_external_entity_is_never_read(parse: Parse) -> None:
    content = (
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><a><b>words</b>&f;</a>'
    )
    parsed = parse(content, "outside.xml")
    assert "words" in parsed.text
    assert "root:" not in parsed.text


def test_a_type_that_is_not_known_is_refused_with_the_list_of_those_that_are(parse: Parse) -> None:
    rejected = refused(parse, b"7z\xbc\xaf'\x1c" + bytes(200), "photos.7z")
    assert rejected.code == Reason.UNSUPPORTED
    for kind in ("PDF", "LaTeX", "Jupyter", "source code", "TAR"):
        assert kind in rejected.remedy
