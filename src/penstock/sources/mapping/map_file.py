"""Loads field maps from TOML files; an error names the file, the line and the field."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from penstock.errors import PenstockError
from penstock.sources.mapping.map_rules import MapRules
from penstock.sources.mapping.record_map import RecordMap


class MapFileInvalid(PenstockError):
    """A file of a field map cannot be used; `line` is None if the error is about the file as a whole."""

    def __init__(self, path: Path, line: int | None, field: str, reason: str) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        what = f"{field}: {reason}" if field else reason
        super().__init__(f"{place}: {what}", "Correct the file")
        self.path = path
        self.line = line
        self.field = field
        self.reason = reason
        self.args = (path, line, field, reason)


@cache
def load_maps(folder: Path) -> Mapping[str, RecordMap]:
    """All maps of a folder by their document type; read once per process."""
    found: dict[str, RecordMap] = {}
    for path in sorted(folder.glob("*.toml")):
        loaded = load_map(path)
        if loaded.document_type in found:
            raise MapFileInvalid(path, None, "document_type", "another file of the folder has it too")
        found[loaded.document_type] = loaded
    if not found:
        raise MapFileInvalid(folder, None, "", "there is no map (*.toml) in this folder")
    return found


def load_map(path: Path) -> RecordMap:
    text = path.read_text()
    try:
        rules = MapRules.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        raise MapFileInvalid(path, int(found[1]) if found else None, "", str(error)) from None
    except ValidationError as error:
        wrong = error.errors()[0]
        place = wrong["loc"]
        reason = wrong["msg"].removeprefix("Value error, ")
        raise MapFileInvalid(path, _line_of(text, place), _field(place), reason) from None
    return RecordMap(rules)


def _field(place: Sequence[str | int]) -> str:
    """facts[2].value, counted from 1 as a person would."""
    written = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place)
    return written.removeprefix(".")


def _line_of(text: str, place: Sequence[str | int]) -> int | None:
    """The line of a field: that of its key below the table's header, else the header's."""
    lines = text.splitlines()
    start = 0
    if len(place) > 1 and isinstance(place[1], int):
        headers = [number for number, line in enumerate(lines) if line.strip() == f"[[{place[0]}]]"]
        if place[1] < len(headers):
            start = headers[place[1]]
            place = place[2:]
            if not place:
                return start + 1
    for number, line in enumerate(lines[start:], start):
        if number > start and line.startswith("[") and start > 0:
            break
        if place and re.match(rf"\s*{re.escape(str(place[0]))}\s*=", line):
            return number + 1
    return start + 1 if start else None
