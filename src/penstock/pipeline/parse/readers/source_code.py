"""Reads source code cut at functions and classes: each is a block of code below a heading with its name."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.mail_message import bare
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.code_braces import brace_units
from penstock.pipeline.parse.readers.code_indents import INDENTED, indent_units
from penstock.pipeline.parse.readers.code_statements import statement_units
from penstock.pipeline.parse.readers.code_units import CodeUnit
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import FileMetadata

_SQL = "text/x-sql"


class CodeReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
        name = bare(source.name)
        out = Composer()
        out.heading(name, 1)
        _write(text, _units(text, source.mime_type), out)
        return out.finished("code", FileMetadata(title=name))


def _units(text: str, kind: str) -> list[CodeUnit]:
    if kind == _SQL:
        return statement_units(text)
    if kind in INDENTED:
        return indent_units(text, INDENTED[kind])
    return brace_units(text, kind)


def _write(text: str, units: list[CodeUnit], out: Composer) -> None:
    """What is before the first function, such as imports, belongs to the file."""
    at = 0
    for unit in units:
        if unit.start > at:
            out.code(text[at : unit.start])
        out.heading(unit.name, unit.depth + 2)
        at = max(at, unit.start)
    out.code(text[at:])


READER = CodeReader()
