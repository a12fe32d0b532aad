"""Unusual but valid files are read as their format says: encodings, escapes, line ends, split characters."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from bench.reading.made.content import DOCUMENTS
from bench.reading.made.open_formats import write_epub
from bench.reading.penstock_reading import parse, read


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-8", "utf-16"])
def test_xml_with_a_name_of_html_keeps_its_letters_in_every_encoding(encoding: str, tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><r><p>Grüße&nbsp;aus Köln</p></r>'
    made = parse(written(tmp_path, "a.xml", text.encode(encoding)))
    assert " ".join(made.text.split()).endswith("Grüße aus Köln")
    assert made.warnings == ()


def test_quotes_inside_a_python_string_do_not_open_another(tmp_path: Path) -> None:
    code = [
        r'A = "\"\"\" is how a docstring starts"',
        'B = "\'\'\'"  # and """ in a comment',
        "def first():",
        '    return \'"""\'',
        "class Second:",
        r'    """It quotes \"""',
        "    def no(): x",
        '    """',
        "    def third(self):",
        "        pass",
    ]
    headings = read(written(tmp_path, "a.py", "\n".join(code).encode())).headings
    assert set(headings) == {("a.py",), ("a.py", "first"), ("a.py", "Second"), ("a.py", "Second", "third")}


def test_both_halves_of_a_character_in_rich_text_are_joined(tmp_path: Path) -> None:
    source = rb"{\rtf1\ansi One \u-10179?\u-8704? two {\uc0\u55357\u56832} half \u-10179?x\u-8704?\par}"
    made = parse(written(tmp_path, "a.rtf", source))
    assert made.text == "One \U0001f600 two \U0001f600 half x\ufffd"


def test_a_line_of_json_may_contain_every_line_end_of_unicode(tmp_path: Path) -> None:
    lines = '{"name": "one\u2028still one"}\n{"name": "two\u0085still two"}\r\n{"name": "three"}\n'
    made = parse(written(tmp_path, "a.jsonl", lines.encode()))
    assert (made.parser, made.warnings) == ("json", ())
    assert [word for word in ("one", "two", "three") if word in made.text] == ["one", "two", "three"]


@pytest.mark.parametrize("name", ["toc.ncx", "nav.xhtml"])
def test_a_book_with_a_damaged_table_of_contents_is_read(name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole.epub"
    write_epub(DOCUMENTS["report"], whole)
    item = f'<manifest><item id="toc" href="{name}" media-type="application/xhtml+xml"/>'
    held = io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(held, "w") as damaged:
        for part in source.namelist():
            damaged.writestr(part, source.read(part).replace(b"<manifest>", item.encode()))
        damaged.writestr(f"OEBPS/{name}", b"<html><ol><li>not closed")
    assert parse(written(tmp_path, "damaged.epub", held.getvalue())).text == parse(whole).text
