"""Reads AsciiDoc: titles, lists, tables, listings and footnotes. Files named by `include::` are not read."""

from __future__ import annotations

import re

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.line_markup import Lines
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import FileMetadata, described, primary

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]++(\S.*+)")
_ATTRIBUTE = re.compile(r":(!?+[\w-]++!?+):[ \t]*+(.*+)")
_BLOCK_TITLE = re.compile(r"\.(?![.\s])(.++)")
_BLOCK_LINE = re.compile(r"\[[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+\][ \t]*+")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|`{3,}|--)(\w*)[ \t]*+")
_TABLE = re.compile(r"[|,:!]={3,}[ \t]*+")
_ITEM = re.compile(r"[ \t]*+(?:[*-]{1,6}|\.{1,6}|<?\d{0,3}[.>])[ \t]++(?=\S)")
_TERM = re.compile(r"[ \t]*+(\S.{0,200}?)(?:::{1,3}|;;)(?:[ \t]++(.*+))?+$")
_MACRO_BLOCK = re.compile(r"(image|video|audio|toc|include|ifdef|ifndef|endif|ifeval)::([^\[\]]*+)\[(.*)\]")
_FOOTNOTE = re.compile(r"footnote:[\w-]*+\[([^\[\]]*+)\]")
_LINK = re.compile(
    r"(?:link:|xref:|mailto:)?(?<![\w./#@-])((?:https?|ftp)://[^\s\[\]<>]++|[\w./#@-]{1,200}+)\[([^\[\]]*+)\]"
)
_REFERENCE = re.compile(r"<<([^<>,]++)(?:,[ \t]*+([^<>]++))?+>>")
_ANCHOR = re.compile(r"\[\[[^\[\]]*+\]\]|\[#[^\[\]]*+\]")
_EMPHASIS = re.compile(r"(?<!\w)([*_`#]{1,2})(?=\S)([^*_`#\n]{1,500}+)\1(?!\w)")
_CELL = re.compile(r"(?:\d*+(?:\.\d++)?+[+*])?(?:[.<^>]*+[adehlmsv]?)\|")
_COLUMNS = re.compile(r'cols="?([^"\]]++)')
_OPTION = re.compile(r"\w++=")
_MAIL = re.compile(r"<[^<>]*+>")
_LITERAL = frozenset("-.+`")


class AsciidocReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        return _Asciidoc(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")).read()


class _Asciidoc:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._out = Composer()
        self._prose = Lines(self._out)
        self._said: dict[str, str] = {}
        self._title: str | None = None
        self._ends = _fences(lines)

    def read(self) -> Parsed:
        at = self._header()
        while at < len(self._lines):
            at = self._line(at)
        self._prose.end()
        said = self._said
        about = FileMetadata(
            title=cleaned_line(self._title or said.get("doctitle")),
            author=cleaned_line(said.get("author")),
            created_at=moment(said.get("revdate")),
            language=primary(said.get("lang")),
            metadata=described(keywords=said.get("keywords"), subject=said.get("description")),
        )
        return self._out.finished("asciidoc", about)

    def _header(self) -> int:
        """The document's title, then the author's line and the attributes up to the first blank line."""
        at, lines = 0, self._lines
        while at < len(lines) and (not lines[at].strip() or lines[at].startswith("//")):
            at += 1
        found = _TITLE.fullmatch(lines[at]) if at < len(lines) else None
        if found is None or len(found[1]) > 1:
            return 0
        self._title = self._inline(found[2])
        self._out.heading(self._title, 1)
        at += 1
        first = at
        while at < len(lines) and lines[at].strip():
            attribute = _ATTRIBUTE.fullmatch(lines[at])
            if attribute:
                self._said[attribute[1].lower()] = attribute[2]
            elif not lines[at].startswith("//"):
                if at - first > 2 or not lines[at][:1].isalnum():
                    break
                if at == first:
                    self._said["author"] = _MAIL.sub("", lines[at]).strip()
                self._prose.add(lines[at])
            at += 1
        self._prose.end()
        return at

    def _line(self, at: int) -> int:
        line = self._lines[at]
        if not line.strip():
            if not self._goes_on(at):
                self._prose.end()
            return at + 1
        first = line[0]
        if first in "=#" and (title := _TITLE.fullmatch(line)):
            self._prose.end()
            self._out.heading(self._inline(title[2]), len(title[1]))
        elif first in "|,:!" and _TABLE.fullmatch(line):
            return self._table(at)
        elif first in "-.=*_+/`" and (fence := _FENCE.fullmatch(line)):
            return self._fenced(at, fence[1])
        elif line.startswith("//") or (first == ":" and _ATTRIBUTE.fullmatch(line)):
            pass
        elif first == "[" and _BLOCK_LINE.fullmatch(line):
            self._prose.end()
        elif first == "." and (title := _BLOCK_TITLE.fullmatch(line)):
            self._prose.end()
            self._out.paragraph(self._inline(title[1]))
        elif "::" in line and (macro := _MACRO_BLOCK.match(line)):
            if macro[1] in ("ifdef", "ifndef"):
                self._prose.add(self._inline(macro[3]))
                return at + 1
            self._prose.end()
            if macro[1] == "image" and not _OPTION.match(macro[3]):
                self._out.paragraph(macro[3].partition(",")[0].strip('"'))
        elif line.strip() == "+":
            pass
        elif item := _ITEM.match(line):
            self._prose.add(_indented(item[0]) + self._inline(line[item.end() :]), is_item=True)
        elif ("::" in line or ";;" in line) and (term := _TERM.match(line)):
            self._prose.add(
                f"- {self._inline(term[1])}: {self._inline(term[2] or '')}".rstrip(), is_item=True
            )
        else:
            self._prose.add(self._inline(line.strip() if self._prose.is_list else line))
        return at + 1

    def _goes_on(self, at: int) -> bool:
        """Whether the list goes on after this blank line."""
        following = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        return self._prose.is_list and bool(_ITEM.match(following))

    def _fenced(self, at: int, fence: str) -> int:
        self._prose.end()
        end = self._ends.get(fence, [])
        while end and end[-1] <= at:
            end.pop()
        if fence[0] not in _LITERAL and fence[0] != "/":
            return at + 1  # an example, a sidebar or a quotation: its content is ordinary text
        if fence == "--":
            return at + 1
        close = end[-1] if end else len(self._lines)
        if fence[0] != "/":
            self._out.code("\n".join(self._lines[at + 1 : close]))
        return close + 1

    def _table(self, at: int) -> int:
        self._prose.end()
        fence = self._lines[at].strip()
        cells: list[list[str]] = []  # the lines of each cell
        counts: list[int] = []  # how many cells each line begins
        end = at + 1
        while end < len(self._lines) and self._lines[end].strip() != fence:
            line = self._lines[end].strip()
            end += 1
            if fence[0] in ",:":
                parts = ["", *(cell.strip().strip('"') for cell in line.split(fence[0]))]
            else:
                parts = _CELL.split(line) if fence[0] == "|" else line.split("!")
            if cells and parts[0].strip():
                cells[-1].append(self._inline(parts[0].strip()))
            cells += ([self._inline(part.strip())] for part in parts[1:])
            if len(parts) > 1:
                counts.append(len(parts) - 1)
        self._out.table(
            _rows([" ".join(lines) for lines in cells], counts, self._lines[at - 1] if at else "")
        )
        return end + 1

    def _inline(self, line: str) -> str:
        if "[" in line:
            line = _FOOTNOTE.sub(r" (\1)", line)
            line = _ANCHOR.sub("", line)
            line = _LINK.sub(_link, line)
        if "<<" in line:
            line = _REFERENCE.sub(lambda found: found[2] or found[1], line)
        if any(mark in line for mark in "*_`#"):
            line = _EMPHASIS.sub(r"\2", line)
        return line


def _link(found: re.Match[str]) -> str:
    words = found[2].partition(",")[0].strip('"^ ')
    if not found[0].startswith(("link:", "xref:", "mailto:")) and "://" not in found[1]:
        return found[0]
    if "://" not in found[1]:
        return words or found[1]
    return f"{words} ({found[1]})" if words else found[1]


def _fences(lines: list[str]) -> dict[str, list[int]]:
    """The lines with each kind of fence, the first one last: the closing one is found without a search."""
    found: dict[str, list[int]] = {}
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number].rstrip()
        if line[:1] in ("-", ".", "+", "/", "`") and _FENCE.fullmatch(line):
            found.setdefault(line, []).append(number)
    return found


def _rows(cells: list[str], counts: list[int], options: str) -> list[list[str]]:
    """A row is a line, or, if each cell has its own, as many cells as the table has columns."""
    if not counts:
        return []
    width = max(counts)
    if columns := _COLUMNS.search(options):
        numbers = [each.partition("*")[0].strip() if "*" in each else "1" for each in columns[1].split(",")]
        width = sum(int(each) if each.isdecimal() and len(each) < 3 else 1 for each in numbers)
    if width > 1 and any(count < width for count in counts):
        return [cells[start : start + width] for start in range(0, len(cells), width)]
    rows, start = [], 0
    for count in counts:
        rows.append(cells[start : start + count])
        start += count
    return rows


def _indented(mark: str) -> str:
    sign = mark.strip()
    depth = len(sign) if sign and len(set(sign)) == 1 else 1
    return "  " * min(depth - 1, 5) + ("- " if sign[:1] in "*-" else "1. ")


READER = AsciidocReader()
