"""Unusual but valid files are read as their format says: encodings, escapes, line ends, split characters."""

from __future__ import annotations

import io
import json
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


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("shift_jis", "水車の門"), ("gbk", "水车的门"), ("euc-kr", "물레방아"), ("utf-9", "gate")],
)
def test_xml_in_an_encoding_that_expat_does_not_know_is_read(
    encoding: str, words: str, tmp_path: Path
) -> None:
    source = f'<?xml version="1.0" encoding="{encoding}"?><r><p>{words}</p></r>'
    path = written(tmp_path, "a.xml", source.encode("utf-8" if encoding == "utf-9" else encoding))
    assert parse(path).text == f"# r\n\np: {words}"


def test_words_of_broken_xml_are_kept_also_in_cdata_and_entities(tmp_path: Path) -> None:
    made = parse(written(tmp_path, "a.xml", b"<?xml version='1.0'?><r><p><![CDATA[a gate]]> &amp; b</p>"))
    assert made.text.strip() == "a gate & b"


def test_a_web_page_in_the_encoding_of_its_xml_declaration(tmp_path: Path) -> None:
    page = '<?xml version="1.0" encoding="iso-8859-2"?><html><body><p>Žluťoučký</p></body></html>'
    assert parse(written(tmp_path, "a.xhtml", page.encode("iso-8859-2"))).text == "Žluťoučký"


def test_a_text_that_begins_with_many_blank_lines_is_not_empty(tmp_path: Path) -> None:
    assert parse(written(tmp_path, "a.txt", b"\n" * 20_000 + b"the words")).text == "the words"


def test_pictures_and_conditions_of_asciidoc_are_not_taken_for_words(tmp_path: Path) -> None:
    source = (
        "= Gate\n\nifdef::web[]\nOn the web.\nendif::[]\n\nimage::a.png[A gate, 300]\n\n"
        "image::b.png[width=300]\n\ninclude::c.adoc[]\n\nifndef::web[Only in print.]\n"
    )
    made = parse(written(tmp_path, "a.adoc", source.encode()))
    assert made.text == "# Gate\n\nOn the web.\n\nA gate\n\nOnly in print."


def test_what_is_only_for_one_output_of_a_restructured_text_is_read(tmp_path: Path) -> None:
    made = parse(written(tmp_path, "a.rst", b"Gate\n====\n\n.. only:: html\n\n   On the web.\n\nAlways.\n"))
    assert made.text == "# Gate\n\nOn the web.\n\nAlways."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            r"It costs $5. Bold \textbf{words}." + "\n\n" + r"Then \textbf{bold} \noindent words.",
            "Then bold words.",
        ),
        (r"See \url{http://a.example/b%20c} and \href{http://d.example/%7E}{there}. End.", None),
        (r"\begin{tabular*}{\textwidth}{ll} a & b \\ \hline c & d \end{tabular*}", None),
        ("\\begin{verbatim*}\ncode\n\\end{verbatim*}\n\n\\section{After}\n", "## After"),
        (r"$$\begin{array}{l} x \\ \hline y \end{array}$$", None),
    ],
)
def test_odd_latex_keeps_its_words_and_adds_none(source: str, text: str | None, tmp_path: Path) -> None:
    made = parse(written(tmp_path, "a.tex", source.encode())).text
    if text is not None:
        assert made.endswith(text)
    elif "url" in source:
        assert made == "See http://a.example/b%20c and http://d.example/%7E there. End."
    elif "tabular" in source:
        assert made == "| a | b |\n| --- | --- |\n| c | d |"
    else:
        assert "hline" not in made


@pytest.mark.parametrize(
    "source",
    [rb"\'83e\'83X\'83g abc", rb"\'83\'65\'83\'58\'83\'67 abc", rb"\u12486\'83e\u12473\'83X\u12488\'83g abc"],
)
def test_characters_of_two_bytes_in_rich_text_are_joined(source: bytes, tmp_path: Path) -> None:
    head = rb"{\rtf1\ansi\ansicpg932\uc2{\fonttbl{\f0\fnil\fcharset128 MS Gothic;}}\f0 "
    assert parse(written(tmp_path, "a.rtf", head + source + rb"\par}")).text == "テスト abc"
    folder = head + rb"\'95\\\'95\{x\par}"  # whose second bytes are the signs of rich text
    assert parse(written(tmp_path, "b.rtf", folder)).text == b"\x95\\\x95{x".decode("cp932")


def test_numbered_paragraphs_and_bibliographies_of_an_open_document_are_read(tmp_path: Path) -> None:
    body = (
        "<text:numbered-paragraph><text:p>One.</text:p></text:numbered-paragraph>"
        "<text:bibliography><text:index-body><text:p>Two.</text:p></text:index-body></text:bibliography>"
    )
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        inside = f"<office:body><office:text>{body}</office:text></office:body>"
        archive.writestr("content.xml", f'<d xmlns:office="o" xmlns:text="t">{inside}</d>')
    assert parse(written(tmp_path, "a.odt", held.getvalue())).text == "One.\n\nTwo."


def test_settings_at_the_head_of_subtitles_are_not_said(tmp_path: Path) -> None:
    source = b"WEBVTT\nKind: captions\nLanguage: en\n\n00:01.000 --> 00:02.000\nHello\n"
    assert parse(written(tmp_path, "a.vtt", source)).text == "[00:00:01] Hello"


def test_the_name_of_a_class_ends_before_its_colon(tmp_path: Path) -> None:
    path = written(tmp_path, "a.swift", b"class Gate: Valve {\n}\n")
    assert ("a.swift", "Gate") in read(path).headings


def test_rich_text_without_its_last_brace_is_read_with_a_warning(tmp_path: Path) -> None:
    made = parse(written(tmp_path, "a.rtf", rb"{\rtf1\ansi The first line.\par The last {\b line}."))
    assert made.text.split("\n\n") == ["The first line.", "The last line."]
    assert "no last brace" in made.warnings[0]
    assert parse(written(tmp_path, "b.rtf", rb"{\rtf1\ansi Whole.\par}")).warnings == ()


def test_a_key_of_json_that_is_given_twice_has_both_values(tmp_path: Path) -> None:
    source = b'{"note": "the first", "gate": {"opens": 6, "opens": 7}, "note": "the second"}'
    text = parse(written(tmp_path, "a.json", source)).text
    assert all(said in text for said in ("the first", "the second", "6", "7"))


def test_an_output_that_is_only_html_is_read(tmp_path: Path) -> None:
    def cell(data: dict[str, object]) -> dict[str, object]:
        return {
            "cell_type": "code",
            "source": ["show()"],
            "outputs": [{"output_type": "display_data", "data": data}],
        }

    table = ["<table><tr><td>weir</td>", "<td>42&nbsp;m</td></tr></table><script>x</script>"]
    book = {
        "nbformat": 4,
        "cells": [cell({"text/html": table}), cell({"text/html": "<b>no</b>", "text/plain": "yes"})],
    }
    text = parse(written(tmp_path, "a.ipynb", json.dumps(book).encode())).text
    assert "weir" in text
    assert "42" in text
    assert "yes" in text
    assert "no" not in text
    assert "<t" not in text


def test_a_book_without_its_mimetype_is_read_as_one(tmp_path: Path) -> None:
    write_epub(DOCUMENTS["report"], tmp_path / "whole.epub")
    with zipfile.ZipFile(tmp_path / "whole.epub") as whole, zipfile.ZipFile(tmp_path / "a.epub", "w") as bare:
        for name in whole.namelist():
            if name != "mimetype":
                bare.writestr(name, whole.read(name))
    assert parse(tmp_path / "a.epub").text == parse(tmp_path / "whole.epub").text
