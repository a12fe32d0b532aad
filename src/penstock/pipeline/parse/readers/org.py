"""Reads Org files: headings, lists, tables, blocks of code and footnotes, without drawers and settings."""

from __future__ import annotations

import re

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.line_markup import Lines
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import FileMetadata, described, primary

_HEADING = re.compile(r"(\*++)[ \t]++(.*+)")
_STATE = re.compile(r"(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELLED)[ \t]++|\[#[A-Z]\][ \t]++|COMMENT[ \t]++")
_TAGS = re.compile(r"[ \t]++:(?:[\w@#%]++:)++[ \t]*+$")
_SETTING = re.compile(r"#\+([A-Za-z_]++):[ \t]*+(.*+)")
_BEGIN = re.compile(r"[ \t]*+#\+begin_(\w++)", re.I)
_ITEM = re.compile(r"([ \t]*+)(?:[-+]|[0-9A-Za-z]{1,3}[.)])[ \t]++(?=\S)")
_CHECKBOX = re.compile(r"\[[ X-]\][ \t]++")
_DRAWER = re.compile(r"[ \t]*+:[A-Za-z_-]++:[ \t]*+")
_RULE = re.compile(r"[ \t]*+\|[-+|: \t]++")
_LINK = re.compile(r"\[\[([^\[\]]++)\](?:\[([^\[\]]++)\])?+\]")
_NOTE = re.compile(r"\[fn:([\w-]*+)(?::([^\[\]]++))?+\]")
_EMPHASIS = re.compile(r"(?<!\w)([*/_=~+])(?=\S)([^*/_=~+\n]{1,500}+)(?<=\S)\1(?!\w)")
_CODE = frozenset({"src", "example", "export", "ascii"})
_DROPPED = frozenset({"comment"})
_PLANNING = ("SCHEDULED:", "DEADLINE:", "CLOSED:")


class OrgReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        return _Org(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")).read()


class _Org:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._out = Composer()
        self._prose = Lines(self._out)
        self._said: dict[str, str] = {}
        self._deeper = 0
        self._ends: dict[str, list[int]] = {}
        for number in range(len(lines) - 1, -1, -1):
            bare = lines[number].strip().lower()
            if bare.startswith("#+end_") or bare == ":end:":
                self._ends.setdefault(bare, []).append(number)

    def read(self) -> Parsed:
        at = 0
        while at < len(self._lines):
            at = self._line(at)
        self._prose.end()
        said = self._said
        about = FileMetadata(
            title=cleaned_line(said.get("title")),
            author=cleaned_line(said.get("author")),
            created_at=moment(said.get("date", "").strip("<>[]")[:10]),
            language=primary(said.get("language")),
            metadata=described(keywords=said.get("keywords") or said.get("filetags")),
        )
        return self._out.finished("org", about)

    def _line(self, at: int) -> int:
        line = self._lines[at]
        bare = line.strip()
        if not bare:
            if not (self._prose.is_list and at + 1 < len(self._lines) and _ITEM.match(self._lines[at + 1])):
                self._prose.end()
        elif line[0] == "*" and (heading := _HEADING.fullmatch(line)):
            self._prose.end()
            title = _TAGS.sub("", _STATE.sub("", heading[2]))
            self._out.heading(_inline(title), len(heading[1]) + self._deeper)
        elif bare.startswith("#"):
            return self._sharp(at, line)
        elif bare[0] == "|":
            return self._table(at)
        elif bare[0] == ":" and _DRAWER.fullmatch(line):
            return self._end_of(":end:", at, unclosed=at) + 1
        elif bare.startswith(_PLANNING) or bare.strip("-") == "":
            self._prose.end()
        elif item := _ITEM.match(line):
            words = _CHECKBOX.sub("", line[item.end() :], count=1).replace(" :: ", ": ", 1)
            self._prose.add(item[0] + _inline(words), is_item=True)
        else:
            if bare.startswith("[fn:"):
                self._prose.end()
            self._prose.add(_inline(line if not self._prose.is_list else bare))
        return at + 1

    def _sharp(self, at: int, line: str) -> int:
        if begin := _BEGIN.match(line):
            self._prose.end()
            kind = begin[1].lower()
            end = self._end_of(f"#+end_{kind}", at, unclosed=len(self._lines))
            if kind in _DROPPED:
                return end + 1
            if kind in _CODE:
                self._out.code("\n".join(self._lines[at + 1 : end]))
                return end + 1
        elif setting := _SETTING.match(line.strip()):
            name, value = setting[1].lower(), setting[2]
            if name == "title" and "title" not in self._said and self._out.is_empty:
                self._out.heading(_inline(value), 1)
                self._deeper = 1
            elif name == "caption":
                self._out.paragraph(_inline(value))
            elif name in ("author", "date"):
                self._out.paragraph(f"{name.capitalize()}: {value}")
            self._said.setdefault(name, value)
        elif not line.lstrip().startswith(("# ", "#+")) and line.strip() != "#":
            self._prose.add(_inline(line))  # a word such as #1
        return at + 1

    def _end_of(self, mark: str, at: int, *, unclosed: int) -> int:
        places = self._ends.get(mark, [])
        while places and places[-1] <= at:
            places.pop()
        return places[-1] if places else unclosed

    def _table(self, at: int) -> int:
        self._prose.end()
        rows, end = [], at
        while end < len(self._lines) and self._lines[end].lstrip()[:1] == "|":
            line = self._lines[end].strip()
            if not _RULE.fullmatch(line):
                rows.append([_inline(cell.strip()) for cell in line.strip("|").split("|")])
            end += 1
        self._out.table(rows)
        return end


def _inline(text: str) -> str:
    if "[" in text:
        text = _NOTE.sub(lambda found: f" ({found[2]})" if found[2] else f"[{found[1]}]", text)
        text = _LINK.sub(_link, text)
    return _EMPHASIS.sub(r"\2", text)


def _link(found: re.Match[str]) -> str:
    if not found[2]:
        return found[1]
    return f"{found[2]} ({found[1]})" if "://" in found[1] else found[2]


READER = OrgReader()
