"""Reads LaTeX: the words without the commands, with sections, lists, tables, footnotes and readable formulas.

One pass over the tokens with a stack of open groups; a group's text is copied once into the one around it,
and groups that collect text are nested a few deep at most: the time is linear. Other files are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.latex_words import (
    ACCENTS,
    CODE,
    DROPPED,
    LEVELS,
    LISTS,
    SYMBOLS,
    TABLES,
    accented,
)
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import FileMetadata

_TOKEN = re.compile(
    r"\\(?:begin|end)[ \t]*+\{([^{}\n]{0,60}+)\}"  # 1: environment
    r"|\\([A-Za-z@]++)\*?+[ \t]*+\n?[ \t]*+(?!\n)"  # 2: command
    r"|\\(.|\n)"  # 3: escaped character
    r"|%[^\n]*+(?:\n[ \t]*+)?"  # a comment, with the line's end
    r"|\n[ \t]*+\n\s*+"  # a blank line
    r"|\$\$|[{}$&~\[\]]"
    r"|[^\\%{}$&~\[\]\n]++|\n"
)
_MACRO = re.compile(
    r"\\(?:re)?newcommand\*?+[ \t]*+\{?+\\([A-Za-z]++)\}?+[ \t]*+\{([^{}\\$#\n]{0,80}+)\}"
    r"|\\def[ \t]*+\\([A-Za-z]++)[ \t]*+\{([^{}\\$#\n]{0,80}+)\}"
)
_DEFINITION = frozenset(
    {"newcommand", "renewcommand", "providecommand", "def", "newenvironment", "newtheorem"}
)
_LONGEST_ADDRESS = 2_000
_MOST_OPEN = 24
"""Groups that collect their text; what is nested deeper adds its words to them."""


@dataclass(slots=True)
class _Group:
    """An open brace or bracket, and what happens with its text when it closes; None adds it where it is."""

    close: str
    then: Callable[[str], None] | None = None
    text: list[str] = field(default_factory=list)
    more: list[Callable[[str], None] | None] = field(default_factory=list)
    """What happens with the arguments after it."""


class LatexReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        return _Latex(text.replace("\r\n", "\n").replace("\r", "\n")).read()


class _Latex:
    def __init__(self, text: str) -> None:
        self._text = text
        self._out = Composer()
        self._words: list[str] = []
        self._groups: list[_Group] = []
        self._collecting: list[_Group] = []  # those of them that keep their text
        self._accent: str | None = None
        self._has_title = False
        self._wanted: list[Callable[[str], None] | None] = []  # what happens with the next arguments
        self._optional_kept: Callable[[str], None] | None = None
        self._rows: list[list[str]] | None = None
        self._math = False
        self._about: dict[str, str] = {}
        self._macros = {one or other: said or more for one, said, other, more in _MACRO.findall(text)}

    def read(self) -> Parsed:
        text = self._text
        begin = text.find("\\begin{document}")
        if begin >= 0:
            self._run(0, begin, is_preamble=True)
            self._forget()
        self._title()
        self._run(max(0, begin), len(text))
        while self._groups:
            self._close(self._groups[-1].close)
        self._end_table()
        self._end_paragraph()
        about = FileMetadata(
            title=cleaned_line(self._about.get("title")), author=cleaned_line(self._about.get("author"))
        )
        return self._out.finished("latex", about)

    def _forget(self) -> None:
        """Only title and author of the preamble count."""
        self._words, self._groups, self._collecting, self._wanted = [], [], [], []
        self._rows, self._out, self._math, self._accent = None, Composer(), False, None

    def _title(self) -> None:
        title = self._about.get("title")
        if self._has_title or not title:
            return
        self._has_title = True
        self._out.heading(title, 1)
        for name in ("author", "date"):
            self._out.paragraph(self._about.get(name, ""))

    def _run(self, at: int, end: int, *, is_preamble: bool = False) -> None:
        text = self._text
        while at < end and (token := _TOKEN.match(text, at, end)) is not None:
            at = token.end()
            said = token[0]
            if token[1] is not None:
                at = self._environment(token[1].strip(), said.startswith("\\b"), at, end)
                if at < 0:
                    return
            elif token[2]:
                if is_preamble and not self._collecting and token[2] not in ("title", "author", "date"):
                    self._wanted = [None]
                else:
                    at = self._command(token[2], at)
            elif token[3]:
                self._escaped(token[3])
            else:
                self._plain(said)

    def _plain(self, said: str) -> None:
        first = said[0]
        if first == "{":
            then = self._wanted.pop(0) if self._wanted else None
            if self._accent is not None:
                accent, self._accent = self._accent, None
                then = lambda letter: self._put(accented(accent, letter))  # noqa: E731
            self._open("}", then)
        elif first == "}":
            self._close("}")
        elif first == "[":
            if self._wanted:
                self._open("]", self._optional_kept or _ignored)
            else:
                self._put("[")
        elif first == "]":
            if any(group.close == "]" for group in self._groups[-2:]):
                self._close("]")
            else:
                self._put("]")
        elif first == "%":
            pass
        elif first == "$":
            self._math = not self._math
        elif first == "&" and self._rows is not None and not self._collecting:
            self._end_cell()
        elif first == "~":
            self._put(" ")
        elif first == "\n" and said.count("\n") > 1:
            self._wanted = []
            self._math = (
                False  # a formula never contains a blank line: some dollar sign was only a dollar sign
            )
            if self._rows is None and not self._collecting:
                self._end_paragraph()
            else:
                self._put(" ")
        elif said.strip() and (self._wanted or self._accent):
            self._bare_argument(said)
        else:
            self._put(said)

    def _bare_argument(self, said: str) -> None:
        """A command that gets no braces has no argument, except an accent, which takes the next letter."""
        self._wanted = []
        if self._accent is not None:
            accent, self._accent = self._accent, None
            letter = said.lstrip()
            said = accented(accent, letter[:1]) + letter[1:]
        self._put(said)

    def _open(self, close: str, then: Callable[[str], None] | None) -> None:
        if len(self._collecting) >= _MOST_OPEN:
            then = None
        self._groups.append(_Group(close, then, more=self._wanted))
        self._wanted = []
        if then is not None:
            self._collecting.append(self._groups[-1])

    def _close(self, close: str) -> None:
        """Close the innermost group of this kind; a bracket that was left open closes with its brace."""
        if not self._groups:
            return
        if close == "}" and self._groups[-1].close == "]" and len(self._groups) > 1:
            self._finish(self._groups.pop())
        if self._groups[-1].close == close:
            self._finish(self._groups.pop())

    def _finish(self, group: _Group) -> None:
        if group.then is not None:
            self._collecting.pop()
            group.then("".join(group.text))
        self._wanted = group.more

    def _put(self, words: str) -> None:
        (self._collecting[-1].text if self._collecting else self._words).append(words)

    def _escaped(self, character: str) -> None:
        if character in ACCENTS:
            self._accent = character
            return
        if character == "\\":
            if self._rows is not None and not self._collecting:
                self._end_row()
            else:
                self._put("\n" if not self._collecting else " ")
            self._wanted = []
        elif character in "()":
            self._put(" ")
        elif character in "[]":
            self._end_paragraph_or_cell()
        else:
            self._put(" " if character in ",;:! \n" else character)

    def _end_paragraph_or_cell(self) -> None:
        if self._rows is None and not self._collecting:
            self._end_paragraph()

    def _command(self, name: str, at: int) -> int:
        self._wanted, self._optional_kept = [], None
        if name in LEVELS:
            self._wanted = [lambda title: self._heading(title, LEVELS[name])]
        elif name in ("title", "author", "date"):
            self._wanted = [lambda said: self._about.__setitem__(name, " ".join(said.split()))]
        elif name in ("footnote", "footnotetext", "thanks", "endnote"):
            self._wanted = [lambda said: self._put(f" ({said.strip()}) ")]
        elif name == "caption":
            self._wanted = [self._caption]
        elif name == "item":
            self._end_paragraph_or_cell()
            self._put("- " if not self._collecting else " ")
            self._optional_kept = lambda said: self._put(f"{said}: ")
            self._wanted = [self._put] if self._text.startswith("[", at) else []
        elif name == "bibitem":
            self._end_paragraph_or_cell()
            self._wanted = [lambda key: self._put(f"[{key}] ")]
        elif name.startswith("cite") or name in ("ref", "eqref", "autoref", "cref", "pageref"):
            self._wanted = [lambda key: self._put(f"[{key}]")]
        elif name in ("url", "href", "path", "nolinkurl"):
            at = self._address(at)
            self._wanted = [self._put] if name == "href" else []
        elif name in _DEFINITION:
            self._wanted = [_ignored, _ignored]
        elif name in DROPPED:
            self._wanted = [_ignored] * DROPPED[name]
        elif name == "frac":
            self._wanted = [lambda top: self._put(f"({top})/"), lambda below: self._put(f"({below})")]
        elif name == "sqrt":
            self._wanted = [lambda inner: self._put(f"√({inner})")]
        elif name in ("multicolumn", "multirow"):
            self._wanted = [_ignored, _ignored, self._put]
        elif name in ACCENTS and not self._math:
            self._accent = name
        elif name in ("verb", "lstinline"):
            return self._verbatim(at)
        elif name in ("par", "newline", "newpage", "clearpage"):
            self._end_paragraph_or_cell()
        elif name == "maketitle":
            self._end_paragraph_or_cell()
            self._title()
        else:
            said = self._macros.get(name) or SYMBOLS.get(name, name if self._math else "")
            self._word(f"{said} " if self._math and said and self._text[at - 1 : at].isspace() else said)
        return at

    def _word(self, said: str) -> None:
        if self._accent is not None:
            self._bare_argument(said)
        else:
            self._put(said)

    def _address(self, at: int) -> int:
        """An address in braces, in which a percent sign begins no comment."""
        end = self._text.find("}", at, at + _LONGEST_ADDRESS) if self._text.startswith("{", at) else -1
        if end < 0:
            return at
        self._put(self._text[at + 1 : end].replace("\\", "") + " ")
        return end + 1

    def _verbatim(self, at: int) -> int:
        mark = self._text[at : at + 1]
        end = self._text.find("}" if mark == "{" else mark, at + 1, at + 1_000) if mark else -1
        if end < 0:
            return at
        self._put(self._text[at + 1 : end])
        return end + 1

    def _environment(self, name: str, is_begin: bool, at: int, end: int) -> int:
        """Where to go on after the beginning or end of an environment; -1 if nothing follows."""
        base = name.rstrip("*")
        if not is_begin:
            return self._end_environment(base, at)
        if base in CODE:
            close = self._text.find(f"\\end{{{name}}}", at, end)
            close = end if close < 0 else close
            self._end_paragraph()
            # Options such as the language stand on the first line.
            first = self._text.find("\n", at, close)
            options = self._text[at : first if first >= 0 else close].strip()
            code_at = first + 1 if first >= 0 and options[:1] in ("[", "{") else at
            if base == "comment":
                return close
            self._out.code(self._text[code_at:close])
            return close
        if base == "document":
            return at
        if self._rows is None and not self._collecting:
            self._end_paragraph()
        if base in TABLES and not self._collecting:
            self._end_table()
            self._rows = [[]]
            self._wanted = [_ignored] * (TABLES[base] + (name == "tabular*"))
        elif base == "abstract":
            self._heading("Abstract", 2)
        elif base == "thebibliography":
            self._heading("References", 2)
            self._wanted = [_ignored]
        elif base in LISTS or base in ("figure", "table", "minipage", "tikzpicture"):
            self._wanted = [_ignored] if base == "minipage" or self._text.startswith("[", at) else []
        elif base in _MATHS:
            self._math = True
        return at

    def _end_environment(self, base: str, at: int) -> int:
        if base == "document":
            return -1
        if base in TABLES:
            self._end_table()
        elif base in _MATHS:
            self._math = False
        if not self._collecting and self._rows is None:
            self._end_paragraph()
        return at

    def _heading(self, title: str, level: int) -> None:
        self._end_table()
        self._end_paragraph()
        self._out.heading(title, level)

    def _caption(self, said: str) -> None:
        if self._rows is not None:
            self._put(said)
            return
        self._end_paragraph()
        self._out.paragraph(" ".join(said.split()))

    def _end_cell(self) -> None:
        if self._rows is not None:
            self._rows[-1].append(" ".join("".join(self._words).split()))
            self._words = []

    def _end_row(self) -> None:
        self._end_cell()
        if self._rows is not None:
            self._rows.append([])

    def _end_table(self) -> None:
        if self._rows is not None:
            if self._rows[-1] or "".join(self._words).strip():
                self._end_cell()
            self._words = []
            self._out.table(self._rows)
            self._rows = None

    def _end_paragraph(self) -> None:
        text = "".join(self._words)
        self._words = []
        if text.strip():
            lines = "\n".join(" ".join(line.split()) for line in text.split("\n\n"))
            if lines.startswith("- "):
                self._out.items([" ".join(lines.split())])
            else:
                self._out.paragraph(" ".join(lines.split()))


_MATHS = frozenset({"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "flalign"})


def _ignored(_: str) -> None:
    """An argument that is not text: a width, a label, a style."""


READER = LatexReader()
