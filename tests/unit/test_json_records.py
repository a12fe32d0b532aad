"""Data is written as lines, tables and headings that say something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.reading.penstock_reading import parse


def text_of(folder: Path, value: object) -> str:
    path = folder / "a.json"
    path.write_text(json.dumps(value))
    return parse(path).text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"size": [[[5]]]}, "size: 5"),
        ([{"a": [{"b": [{"c": [1]}]}]}, {"a": [{"b": [{"c": [2]}]}]}], "a.b.c: 1\na.b.c: 2"),
        ({"wheel": {"at": [{"depth": "3 m"}]}, "name": "Mill"}, "wheel.at.depth: 3 m\nname: Mill"),
    ],
)
def test_containers_of_one_value_are_a_line_and_not_a_heading_each(
    value: object, said: str, tmp_path: Path
) -> None:
    assert text_of(tmp_path, value) == said


def test_a_list_of_one_record_keeps_its_heading(tmp_path: Path) -> None:
    said = text_of(tmp_path, {"authors": [{"name": "Ann", "town": "Ulm"}]})
    assert said == "# authors\n\nname: Ann; town: Ulm"


def test_containers_of_one_that_hold_nothing_say_nothing(tmp_path: Path) -> None:
    assert text_of(tmp_path, {"a": [[{}]], "b": [[[None]]], "c": 1}) == "c: 1"
