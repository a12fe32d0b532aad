"""Reads JSON and JSON lines: keys as headings and paths, records as tables."""

from __future__ import annotations

import json
from typing import Any

from penstock.model import Parsed
from penstock.model.text_media import JSON_LINES
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.fallback import as_plain_text
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.readers.records import Records
from penstock.pipeline.parse.result import FileMetadata


class JsonReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        text = text.lstrip("\ufeff")
        try:
            value = _lines(text) if source.mime_type == JSON_LINES else _loaded(text)
        except (ValueError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:100]
            return as_plain_text(text, "JSON", why)
        out = Composer()
        Records(out).write(value)
        return out.finished("json", _about(value))


def _loaded(text: str) -> Any:
    """Numbers stay as they are written."""
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError:
        if text.lstrip()[:1] == "{" and "}\n{" in text.replace("\r", ""):
            return _lines(text)  # JSON lines under a name for JSON
        raise


def _lines(text: str) -> list[Any]:
    # Not by str.splitlines: a string may contain U+2028 and other line ends of Unicode as they are.
    return [_decoder.decode(line) for line in text.replace("\r", "\n").split("\n") if line.strip()]


def _about(value: Any) -> FileMetadata:
    def said(name: str) -> str | None:
        found = value.get(name) if isinstance(value, dict) else None
        return cleaned_line(found) if isinstance(found, str) else None

    return FileMetadata(title=said("title") or said("name"), author=said("author"))


def _all_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that is given twice has both values, as a list of them would."""
    found = dict(pairs)
    if len(found) < len(pairs):
        every: dict[str, list[Any]] = {}
        for name, value in pairs:
            every.setdefault(name, []).append(value)
        return {name: values if len(values) > 1 else values[0] for name, values in every.items()}
    return found


_decoder = json.JSONDecoder(object_pairs_hook=_all_of, parse_float=str, parse_int=str, parse_constant=str)

READER = JsonReader()
