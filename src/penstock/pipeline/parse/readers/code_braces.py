"""Finds functions and classes in languages with braces: C, C++, C#, Java, JavaScript, Go, Rust, PHP, …

One pass over the tokens: comments and strings are skipped, and what stands before a `{` says what it opens.
"""

from __future__ import annotations

import re

from penstock.pipeline.parse.readers.code_units import CodeUnit

_TOKENS = (
    r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+"
    r'|"(?:[^"\\\n]|\\.)*+"?+'
    r"|%s"
    r"|`(?:[^`\\]|\\.)*+`?+"
    r"|[{};()]|%s|[^{};()/\"'`#]++|."
)
_QUOTED = r"'(?:[^'\\\n]|\\.)*+'"
_TOKEN = re.compile(_TOKENS % (_QUOTED, "#"), re.S)
_DIRECTIVE_TOKEN = re.compile(_TOKENS % (_QUOTED, r"#[^\n]*+"), re.S)
"""Where a `#` begins a directive or a comment, and not an attribute or a private member."""
_RUST_TOKEN = re.compile(_TOKENS % (r"'(?:[^'\\\n]|\\[^'\n]{1,10})'", "#"), re.S)
"""A quote in Rust is one character, or begins a lifetime, which has no end."""
_DIRECTIVES = frozenset({"text/x-c", "text/x-c++", "text/x-csharp", "text/x-php"})
_SIGNS = frozenset("{};()/\"'`#")
"""How everything starts that is not plain text of the program."""
_CONTAINER = re.compile(
    r"\b(class|interface|enum|struct|trait|impl|namespace|module|record|object|protocol|extension|union|mod)"
    r"\b(?:<[^<>]*+>)?[ \t\n]++(?:class[ \t\n]++)?(?:[\w:<>, &']{1,80}?\bfor[ \t\n]++)?([A-Za-z_$][\w:.$]*+)"
    r"|\btype[ \t\n]++(\w++)(?:\[[^\[\]]*+\])?[ \t\n]++(?:struct|interface)\b"
)
_KEYWORD_FUNCTION = re.compile(
    r"\b(?:function|func|fun|fn|def|sub)\b[ \t\n*&]*+(?:<[^<>]*+>[ \t\n]*+)?(?:\([^()]*+\)[ \t\n]*+)?"
    r"([A-Za-z_$][\w$.]*+)"
)
_ASSIGNED = re.compile(
    r"(?:\b(?:const|let|var)[ \t\n]++|\.|^|\n[ \t]*+)([A-Za-z_$][\w$]*+)(?:[ \t]*+:[^=\n]*+)?"
    r"[ \t\n]*+[=:][ \t\n]*+(?:async[ \t\n]*+)?(?:function\b|\(|[\w$]++[ \t\n]*+=>)"
)
_CALLABLE = re.compile(r"([~A-Za-z_$][\w$:~]*+(?:<[^<>()]*+>)?)[ \t\n]*+\(")
_CONTROL = frozenset(
    {
        *("if", "for", "while", "switch", "catch", "else", "do", "try", "return", "sizeof", "match", "with"),
        *(
            "using",
            "lock",
            "foreach",
            "synchronized",
            "unless",
            "elif",
            "when",
            "select",
            "new",
            "throw",
            "await",
        ),
        *("decltype", "noexcept", "throws", "__attribute__", "where", "requires", "super", "this", "base"),
    }
)
_TYPES = frozenset({"struct", "enum", "union"})
_MOST_HEADER = 2_000
_NO_DEFINITION = (".", "=", "@", "(", ",", "return", "new")
"""What stands before a call, but not before the name of a function that is defined."""
_ALIKE = frozenset({"text/javascript", "text/x-typescript", "text/x-dart", "text/x-php"})
"""Languages in which a function may be the value of a name or property."""


def brace_units(text: str, kind: str) -> list[CodeUnit]:
    """Functions and classes, each from the comments above it; what is inside a function belongs to it."""
    found: list[CodeUnit] = []
    opened: list[
        bool | None
    ] = []  # True: a class, whose members count; None: a function; False: other braces
    functions = depth = round_open = 0
    header = 0  # where the text before the next brace starts
    bare: list[str] = []  # that text without comments and strings
    for token in _tokens(kind).finditer(text):
        said = token[0]
        first = said[0]
        if first not in _SIGNS:
            if not round_open:
                bare.append(said)
            continue
        start, at = token.span()
        if first == "{":
            opens: bool | None = False
            if not functions and not round_open:
                unit = _opened("".join(bare)[-_MOST_HEADER:], kind)
                if unit is not None:
                    name, opens = unit
                    found.append(CodeUnit(_from(text, header, start), name, depth))
            depth += opens is not False
            functions += opens is None
            opened.append(opens)
            header, bare = at, []
        elif first == "}":
            if opened:
                closed = opened.pop()
                depth -= closed is not False
                functions -= closed is None
            if not opened:
                round_open = 0
            header, bare = at, []
        elif first == ";":
            if not round_open:
                header, bare = at, []
        elif first == "(":
            if not round_open:
                bare.append("()")
            round_open += 1
        elif first == ")":
            round_open = max(0, round_open - 1)
        elif first == "#":
            if kind in _DIRECTIVES:
                header, bare = at, []
            else:
                bare.append(" ")
        elif said == "/" and not round_open:
            bare.append(said)
    return found


def _tokens(kind: str) -> re.Pattern[str]:
    if kind == "text/x-rust":
        return _RUST_TOKEN
    return _DIRECTIVE_TOKEN if kind in _DIRECTIVES else _TOKEN


def _opened(header: str, kind: str) -> tuple[str, bool | None] | None:
    """The name of what a brace opens, and True for a class, None for a function; None for neither."""
    container, named = _last(_CONTAINER, header), _last(_KEYWORD_FUNCTION, header)
    if container is not None and container[1] in _TYPES and "(" in header[container.end() :]:
        container = None  # a function that returns one
    if container is not None and (named is None or _decides(container, named, header)):
        return (container[2] or container[3]).rstrip(":"), True
    if named is not None and named[1] not in _CONTROL:
        return named[1].rpartition(".")[2], None
    if kind in _ALIKE and (assigned := _last(_ASSIGNED, header)) is not None:
        return assigned[1], None
    if not _ends_as_function(header):
        return None
    for called in _CALLABLE.finditer(header):
        name = called[1].partition("<")[0]
        if name not in _CONTROL and not header[: called.start()].rstrip().endswith(_NO_DEFINITION):
            return name, None
    return None


def _decides(one: re.Match[str], other: re.Match[str], header: str) -> bool:
    """Whether the first of two keywords says what is opened: the one on a later line, or further left."""
    left, right = sorted((one.start(), other.start()))
    return one.start() == (right if "\n" in header[left:right] else left)


def _ends_as_function(header: str) -> bool:
    end = header.rstrip()
    return ")" in end and "=" not in end.rpartition(")")[2].replace("=>", "")


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007  # the last one counts
        pass
    return found


def _from(text: str, start: int, end: int) -> int:
    """Where the header's own lines begin: after the white space, and after a gap if it is long."""
    gap = text.rfind("\n\n", max(start, end - _MOST_HEADER), end)
    start = gap if gap >= 0 else start
    while start < end and text[start] in " \t\n":
        start += 1
    return start
