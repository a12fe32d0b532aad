"""Reads reStructuredText: titles, lists, tables, directives and footnotes. Included files are not read."""

from __future__ import annotations

import csv
import re
from textwrap import dedent

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.line_markup import Lines
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.readers.rst_tables import grid_rows, is_grid_start, is_simple_start, simple_rows
from penstock.pipeline.parse.result import FileMetadata

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1++[ \t]*+")
_ITEM = re.compile(r"([ \t]*+)(?:[-*+•]|#\.|\(?[0-9A-Za-z]{1,3}[.)])[ \t]++(?=\S)")
_FIELD = re.compile(r":([A-Za-z][\w -]{0,40}+):(?:[ \t]++(.*+))?+$")
_DIRECTIVE = re.compile(r"\.\.[ \t]++(?:\|[^|\n]++\|[ \t]++)?([A-Za-z][\w:+.-]*?)::(?:[ \t]++(.*+))?+$")
_NOTE = re.compile(r"\.\.[ \t]++\[([#*\w.-]{1,60}+)\][ \t]*+(.*+)$")
_ROLE = re.compile(r"(?<![\w`]):[A-Za-z][\w.+-]{0,40}+(?::[\w.+-]{1,40}+)?+:(?=`)")
_QUOTED = re.compile(r"``([^`]++)``|`([^`<]*+)(?:<([^<>`]++)>)?+`_{0,2}+")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=\S)([^*\n]{1,500}+)\1(?!\w)")
_REFERENCE = re.compile(r"(?<=[\w\]])__?(?=[\s.,;:!?)]|$)")
_CODE = frozenset(
    {"code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "highlight", "prompt"}
)
_DROPPED = frozenset(
    {"toctree", "contents", "include", "raw", "index", "highlight", "role", "default-role", "meta"}
)
_ABOUT = {"author", "authors", "date", "title", "lang"}


class RstReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(8)
        return _Rst([line.rstrip() for line in text.split("\n")]).read()


class _Rst:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._out = Composer()
        self._prose = Lines(self._out)
        self._levels: dict[str, int] = {}
        self._said: dict[str, str] = {}

    def read(self) -> Parsed:
        at = 0
        while at < len(self._lines):
            at = self._line(at)
        self._prose.end()
        about = FileMetadata(
            title=cleaned_line(self._said.get("title")),
            author=cleaned_line(self._said.get("author") or self._said.get("authors")),
            created_at=moment(self._said.get("date")),
        )
        return self._out.finished("rst", about)

    def _line(self, at: int) -> int:
        line = self._lines[at]
        if not line:
            following = self._lines[at + 1] if at + 1 < len(self._lines) else ""
            if not (self._prose.is_list and (following[:1] == " " or _ITEM.match(following))):
                self._prose.end()
            return at + 1
        if end := self._title(at):
            return end
        if not line[0].isalnum() and (end := self._marked(at, line)):
            return end
        if item := _ITEM.match(line):
            self._prose.add(item[0] + _inline(line[item.end() :]), is_item=True)
        elif line != "::":
            self._prose.add(_inline(line.removesuffix(":") if line.endswith("::") else line))
        return self._literal(at) if line.endswith("::") else at + 1

    def _marked(self, at: int, line: str) -> int:
        """The line after a table, a directive or a field that begins here; 0 if none does."""
        if is_grid_start(line):
            return self._table(at, grid_rows)
        if is_simple_start(line):
            return self._table(at, simple_rows)
        if line.startswith("..") and line[2:3] in ("", " "):
            return self._explicit(at)
        if line[0] == ":" and (field := _FIELD.match(line)):
            self._prose.end()
            if field[1].lower() in _ABOUT:
                self._said.setdefault(field[1].lower(), field[2] or "")
            self._out.paragraph(f"{field[1]}: {_inline(field[2] or '')}")
            return at + 1
        return 0

    def _title(self, at: int) -> int:
        """The line after a title that begins here; 0 if none does."""
        lines = self._lines
        line = lines[at]
        is_adorned = not line[0].isalnum() and _ADORNMENT.fullmatch(line) is not None
        if is_adorned and at + 2 < len(lines) and len(line) >= 3:
            over, title, under = line, lines[at + 1], lines[at + 2]
            if title.strip() and under == over and " " not in over.strip():
                self._heading(over[0] * 2, title.strip())
                return at + 3
        if at + 1 < len(lines) and line[0] != " " and not is_adorned:
            under = lines[at + 1]
            if (
                len(under) >= min(3, len(line))
                and len(under) >= len(line) * 0.8
                and _ADORNMENT.fullmatch(under)
            ):
                self._heading(under[0], line)
                return at + 2
        # A line of four or more signs alone separates paragraphs.
        if len(line) >= 4 and is_adorned and "::" not in line and line[0] not in ".:+":
            self._prose.end()
            return at + 1
        return 0

    def _heading(self, style: str, title: str) -> None:
        self._prose.end()
        level = self._levels.setdefault(style, len(self._levels) + 1)
        self._out.heading(_inline(title), level)

    def _table(self, at: int, rows_of: type | object) -> int:
        self._prose.end()
        end = at
        while end < len(self._lines) and (self._lines[end] or rows_of is simple_rows):
            end += 1
            if rows_of is simple_rows and is_simple_start(self._lines[end - 1]) and end - at > 2:
                after = self._lines[end] if end < len(self._lines) else ""
                if not after:
                    break
        assert callable(rows_of)
        self._out.table([[_inline(cell) for cell in row] for row in rows_of(self._lines[at:end])])
        return end

    def _indented(self, at: int) -> int:
        """The line after the last that is indented, from here on."""
        last = at
        while at < len(self._lines) and (not self._lines[at] or self._lines[at][0] == " "):
            if self._lines[at]:
                last = at + 1
            at += 1
        return last

    def _literal(self, at: int) -> int:
        following = at + 1
        while following < len(self._lines) and not self._lines[following]:
            following += 1
        end = self._indented(following)
        if end > following:
            self._prose.end()
            self._out.code(dedent("\n".join(self._lines[following:end])))
            return end
        return at + 1

    def _explicit(self, at: int) -> int:
        """A directive, a footnote, a target or a comment."""
        self._prose.end()
        line = self._lines[at]
        end = self._indented(at + 1)
        if note := _NOTE.match(line):
            more = " ".join(each.strip() for each in self._lines[at + 1 : end])
            self._out.paragraph(_inline(f"[{note[1]}] {note[2]} {more}".rstrip()))
        elif found := _DIRECTIVE.match(line):
            return self._directive(found[1].lower(), found[2] or "", at, end)
        return end if end > at else at + 1

    def _directive(self, name: str, argument: str, at: int, end: int) -> int:
        start = at + 1
        while (
            start < end
            and self._lines[start].lstrip()[:1] == ":"
            and _FIELD.match(self._lines[start].strip())
        ):
            option = _FIELD.match(self._lines[start].strip())
            if option and option[1] in ("alt", "caption", "header"):
                argument = f"{argument if name not in ('image', 'figure') else ''} {option[2] or ''}".strip()
            start += 1
        inner = self._lines[start:end]
        if name in _CODE:
            self._out.code(dedent("\n".join(inner)))
        elif name == "csv-table":
            self._out.paragraph(argument)
            self._out.table(csv.reader(each.strip() for each in inner if each))
        elif name == "list-table":
            self._out.paragraph(argument)
            self._out.table(_listed(inner))
        elif name == "math":
            self._out.paragraph(" ".join((argument, *(each.strip() for each in inner))))
        elif name not in _DROPPED:
            if name != "only" and (name not in ("image", "figure") or start > at + 1):
                self._prose.add(_inline(argument))
            return self._dedent(start, end)
        return max(end, at + 1)

    def _dedent(self, start: int, end: int) -> int:
        """The content of a note or a figure is ordinary text, further to the left."""
        indent = min((len(line) - len(line.lstrip()) for line in self._lines[start:end] if line), default=0)
        for number in range(start, end):
            self._lines[number] = self._lines[number][indent:]
        return start


def _listed(lines: list[str]) -> list[list[str]]:
    rows: list[list[list[str]]] = []
    for line in lines:
        said = line.strip()
        if said.startswith("* -"):
            rows.append([[said[3:].strip()]])
        elif said.startswith("-") and rows:
            rows[-1].append([said[1:].strip()])
        elif said and rows:
            rows[-1][-1].append(said)
    return [[_inline(" ".join(cell)) for cell in row] for row in rows]


def _inline(text: str) -> str:
    if "`" in text:
        text = _QUOTED.sub(_unquoted, _ROLE.sub("", text))
    if "*" in text:
        text = _EMPHASIS.sub(r"\2", text)
    return _REFERENCE.sub("", text) if "_" in text else text


def _unquoted(found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1]
    words, target = (found[2] or "").strip(), found[3]
    if not target:
        return words
    return f"{words} ({target})" if words and "://" in target else words or target


READER = RstReader()
