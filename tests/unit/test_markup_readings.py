"""Generated documents in textual markup are read with nearly every word, heading and cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.reading.made import markup, texts
from bench.reading.penstock_reading import parse, read
from bench.reading.truth import scores
from tests.unit.test_parse_blocks import assert_covers


@pytest.mark.parametrize("kind", markup.KINDS)
def test_words_headings_and_cells_of_generated_markup_are_found(kind: str, tmp_path: Path) -> None:
    found = [each for each in markup.make(tmp_path) if each.kind == kind]
    assert len(found) >= 3
    for truth in found:
        score = scores(truth, read(truth.path))
        assert score.words >= 0.98, truth.path.name
        assert score.headings is not None
        assert score.headings >= 0.95, truth.path.name
        assert score.cells is not None
        assert score.cells >= 0.95, truth.path.name
        made = parse(truth.path)
        assert_covers(made.text, made.blocks)


@pytest.mark.parametrize("name", texts.KINDS)
def test_words_headings_and_cells_of_generated_plain_files_are_found(name: str, tmp_path: Path) -> None:
    ending, write = texts.KINDS[name]
    for number, story in enumerate(markup.STORIES):
        truth = write(tmp_path / f"{name}-{number}.{ending}", story)
        score = scores(truth, read(truth.path))
        assert (score.words, score.headings or 1.0, score.cells or 1.0, score.order or 1.0) == (1.0,) * 4
        made = parse(truth.path)
        assert made.warnings == ()
        assert_covers(made.text, made.blocks)


@pytest.mark.parametrize(
    ("name", "code", "paths"),
    [
        (
            "a.py",
            '# A\nclass A:\n    """def no(): x"""\n    @d\n    def m(self):\n        x\n\ndef top():\n  x\n',
            [("a.py", "A"), ("a.py", "A", "m"), ("a.py", "top")],
        ),
        (
            "a.ts",
            "function f(a) { if (a) { } }\nconst g = (x) => { 1 }\nclass C {\n  get(a): string { `{`; }\n}\n",
            [("a.ts", "f"), ("a.ts", "g"), ("a.ts", "C"), ("a.ts", "C", "get")],
        ),
        ("a.go", "type T struct {\n}\n\nfunc (t *T) Get() int {\n}\n", [("a.go", "T"), ("a.go", "Get")]),
        ("a.rs", "impl<'a> P<'a> {\n  fn name(&self) { 'x' }\n}\n", [("a.rs", "P"), ("a.rs", "P", "name")]),
        ("a.c", "struct foo *make(int a) {\n  return 0;\n}\n", [("a.c", "make")]),
        ("a.java", "class A<T> {\n int get() { new B() { void x() {} }; }\n}", [("a.java", "A", "get")]),
        ("a.rb", "module M\n  def self.x\n  end\nend\n", [("a.rb", "M", "x")]),
        ("a.sql", "create table t (a int);\n", [("a.sql", "create table t")]),
        ("a.sh", "hi() {\n  echo\n}\n", [("a.sh", "hi")]),
    ],
)
def test_source_code_is_cut_at_functions_and_classes(
    name: str, code: str, paths: list[tuple[str, ...]], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(code)
    assert set(paths) <= set(read(path).headings)
    made = parse(path)
    assert_covers(made.text, made.blocks)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "a.srt",
            "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i>\n\n2\n00:00:03,000 --> 00:00:04,000\nfriend\n",
        ),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>Hello</i>\n\n00:03.000 --> 00:04.000\nfriend\n"),
    ],
)
def test_subtitles_become_paragraphs_with_their_time(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert parse(path).text == "[00:00:01] Hello friend"


def test_broken_json_is_read_as_plain_text_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"words": "to find"')
    made = parse(path)
    assert "to find" in made.text
    assert "not valid JSON" in made.warnings[0]


def test_a_figure_of_xbrl_stands_in_one_line_with_its_context_and_unit(tmp_path: Path) -> None:
    path = tmp_path / "filing.xml"
    path.write_text(
        '<?xml version="1.0"?><xbrl xmlns:m="http://mill.example"><context id="FY2025"><e>1</e></context>'
        '<m:Revenue id="f1" contextRef="FY2025" unitRef="EUR" decimals="-3">1204000</m:Revenue>'
        '<m:Policies contextRef="FY2025">Wheels are written off in ten years.</m:Policies></xbrl>'
    )
    lines = parse(path).text.splitlines()
    assert lines[-2:] == [
        "revenue: 1204000 (FY2025, EUR)",
        "policies: Wheels are written off in ten years. (FY2025)",
    ]
