"""Finds phrases we do not write in the pages people read, and says what to write instead."""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

PAGES = ("*.md", "docs/**/*.md", "bench/README.md", "examples/**/*.md")
SOURCES = (
    "src/penstock/**/*.py",
    "src/penstock/**/*.sql",
    "tests/**/*.py",
    "bench/**/*.py",
    "examples/**/*.py",
    "examples/**/*.sql",
    "console/src/**/*.ts",
    "console/src/**/*.tsx",
)
"""Of these, strings, docstrings and comments; of the console everything, as text stands between tags."""

NOT_READ = {
    "docs/reference/sql-documents.md": "written from the SQL, and checked there",
    "tests/contract/test_english.py": "examples of what we do not write",
    "console/src/api/schema.d.ts": "written from the API's description",
}

_EACH = r"(?:task|worker|message|second|minute|hour|day|month|tenant|document|page|queue|chunk|claim|file)"
_COUNTED = r"(?:bytes|WAL|attempts?|rows?|beats?|connections?|tokens?|objects?)"
_ENDED = r"(?=\s*(?:[.,;:)!?|]|$|(?:and|in|on|for|at|unless)\b))"
_ENDS = r"(?:stops?|stopped|ends?|ended|closes?|closed|shuts?|leaves?|left)"
_LASTS = r"(?:waits?|takes?|lives?|lasts?|runs?|stays?|keeps?|kept|holds?|held|rests?)"

PHRASES = {
    # what a German or a Victorian would say
    r"leaves? (?:it|them|this|that) away": "remove it, omit it",
    r"lets? (?:us|it|them|you) not in": "rejects our login",
    r"is no (?:positive|negative|whole|number|valid|integer|UUID)": "must be a positive number",
    r"nor none": "or 'none'",
    r"until when (?:it|they|this|that) (?:works?|counts?|lasts?)": "until, expires",
    r"whoever|whomever|whosoever": "the caller, anyone who, the operator",
    r"of late": "recently",
    r"mend|mends|mended|mending": "fix",
    r"(?:was|were) here before": "was already received",
    r"of no use": "does not help",
    r"anew": "again, from the start",
    r"no hand on": "no control over",
    r"thrice|whence|thence|hence|therein|thereof|whereof|wherein|herein|thereby": "a word people say",
    r"(?:goes?|went|gone) amiss": "failed",
    r"by and by": "gradually",
    r"for nought|for naught": "in vain",
    r"without more": "by default",
    r"to and fro": "back and forth",
    r"holds? good|hold good": "is true, applies",
    r"as it were|so to say": "leave it out",
    r"puts? (?:it|them|a result|results) down": "write, store",
    r"makes? an end of": "ends, stops",
    r"(?:is|are) told by heart": "is known",
    r"(?:has|have) no (?:say|mind)": "does not decide",
    r"one's own": "your own, the user's own",
    r"under way": "in progress",
    r"makes? no sense": "is invalid",
    r"the seed's": "say which function or setting",
    r"by the clock": "at set times",
    r"(?:say|says|said) why (?:it|they) (?:is|are) where (?:it|they) (?:is|are)": "explains its rank",
    r"(?:something|nothing) stands still": "is stuck",
    # quantities
    r"(?:marks?|writers?) a (?:lane|key)": "per lane",
    r"so many(?! (?:that|as))": "this many",
    rf"{_LASTS} so long(?! (?:as|that))": "this long",
    rf"{_COUNTED} an? {_EACH}{_ENDED}": "per task",
    # gracefully
    rf"{_ENDS}(?: \w+){{0,2}} in order(?! (?:to|of|by|that))": "gracefully, cleanly",
}
"""Pattern → what to write instead. A space matches any white space, also at the end of a line."""

EXACT = {r"The same\.": "the help text again"}
"""Not as the whole of a text, such as an option's help."""

ALLOWED: dict[tuple[str, str], str] = {
    ("src/penstock/worker/worker.py", "stops them in order"): "one after the other, which is meant",
    ("tests/integration/test_pipeline.py", "mended"): "a question that is searched for",
}
"""(path, found text in lower case) → why it may stay."""

_BETWEEN = r"""(?:\s|["'#|]|--)+"""
_FENCED = re.compile(r"^([ ]*)```.*?^\1```$", re.MULTILINE | re.DOTALL)


def compiled() -> list[tuple[re.Pattern[str], str]]:
    return [
        (re.compile(rf"(?<![\w-])(?:{pattern.replace(' ', _BETWEEN)})(?![\w-])", re.IGNORECASE), instead)
        for pattern, instead in PHRASES.items()
    ]


def blanked(text: str) -> str:
    """The same number of lines, without their text."""
    return "\n" * text.count("\n")


def words_of(path: Path) -> str:
    """What people read in a file; everything else is blanked, so that line numbers stay."""
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".md":
            return _FENCED.sub(lambda block: blanked(block[0]), text)
        case ".py":
            return words_of_python(text)
        case ".sql":
            return "\n".join(words_of_sql(line) for line in text.splitlines())
    return text


def words_of_python(text: str) -> str:
    """Comments and strings."""
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            for offset, part in enumerate(token.string.split("\n")):
                lines[token.start[0] - 1 + offset] += part + " "
    return "\n".join(lines)


def words_of_sql(line: str) -> str:
    """Comments and literals."""
    code, _, comment = line.partition("--")
    return " ".join([*re.findall(r"'[^']*'", code), f"-- {comment}" if comment else ""])


def found_in(path: Path, phrases: list[tuple[re.Pattern[str], str]]) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    words = words_of(path)
    for pattern, instead in phrases:
        for hit in pattern.finditer(words):
            text = " ".join(hit[0].split())
            if (name, text.lower()) not in ALLOWED:
                yield f"{name}:{words.count(chr(10), 0, hit.start()) + 1}: “{text}”: write {instead}"
    for pattern_text, instead in EXACT.items():
        for hit in re.finditer(rf"""["']{pattern_text}["']""", words):
            yield f"{name}:{words.count(chr(10), 0, hit.start()) + 1}: {hit[0]}: write {instead}"


def main(names: list[str]) -> int:
    globs = names or [*PAGES, *SOURCES]
    files = sorted({path for glob in globs for path in ROOT.glob(glob) if path.is_file()})
    files = [path for path in files if path.relative_to(ROOT).as_posix() not in NOT_READ]
    phrases = compiled()
    found = [line for path in files for line in found_in(path, phrases)]
    print("\n".join(found) if found else f"English: {len(files)} files read, nothing to reword.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
