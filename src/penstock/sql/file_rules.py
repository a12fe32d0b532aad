"""What a reader of SQL files would object to, and what a folder of the user's own may not do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from penstock.sql import ON_REQUEST, Kind, SqlFile, SqlTree
from penstock.sql.schema_names import KEPT_FOR_LATER, PENSTOCK_SCHEMAS

CREATED: Final = re.compile(
    r"^create (?:or replace )?(function|procedure|view)\s+([a-z_.0-9]+)", re.MULTILINE
)
NOT_CODE: Final = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"", re.DOTALL)
BODY: Final = re.compile(r"\$(\w*)\$.*?\$\1\$", re.DOTALL)
SHOUTED: Final = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|CREATE|BEGIN|END|RETURNS?|DECLARE|LANGUAGE)\b"
)
HEAD: Final = re.compile(r"\A--[^\n]*\n")
ENDS_TRANSACTION: Final = re.compile(
    r"(?:^|;)\s*(begin(?!\s+atomic)|commit|rollback|start\s+transaction)\b", re.IGNORECASE
)

_PENSTOCKS: Final = rf"(?P<schema>{'|'.join(sorted(PENSTOCK_SCHEMAS | KEPT_FOR_LATER))}|penstock\w*)"
_THING: Final = r"(?:table|(?:materialized\s+)?view|function|procedure|routine|schema|type|sequence|domain)"
CHANGES_PENSTOCK: Final = (
    re.compile(
        rf"(?:^|;)\s*(?:create(?:\s+or\s+replace)?|alter|drop)\s+{_THING}\s+"
        rf"(?:if\s+(?:not\s+)?exists\s+)?{_PENSTOCKS}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|;)\s*(?:create|alter|drop)\s[^;]*\b(?:index|trigger|policy|rule)\s[^;]*?\bon\s+{_PENSTOCKS}\.",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|;)\s*(?:grant|revoke)\s[^;]*\bon\s[^;]*?\b{_PENSTOCKS}(?:\.|\s+(?:to|from)\b)", re.IGNORECASE
    ),
)


def complaints(tree: SqlTree, root: Path) -> Iterator[str]:
    """What is wrong with the files as they are written."""
    known = {file.path for file in tree.files}
    for path in sorted(root.rglob("*.sql")):
        place = path.relative_to(root)
        if place.as_posix() not in known and place.parts[0] != ON_REQUEST:
            yield f"{path.relative_to(root)}: nobody applies a file in this folder"
    for file in tree.files:
        code = NOT_CODE.sub("''", file.text)
        if shouted := SHOUTED.search(code):
            yield f"{file.path}: {shouted.group()} is written in lower case here"
        if "\t" in file.text or re.search(r"[ ]+$", file.text, re.MULTILINE):
            yield f"{file.path}: tabs or spaces at the end of a line"
        if not HEAD.match(file.text):
            yield f"{file.path}: starts without a comment that says why it is there"
    for file in tree.objects:
        yield from _object_complaints(file)


def _object_complaints(file: SqlFile) -> Iterator[str]:
    expected = f"{file.schema}.{file.name}"
    created = [name for _, name in CREATED.findall(file.text)]
    if created != [expected]:
        yield f"{file.path}: creates {', '.join(created) or 'nothing'} instead of {expected} alone"
    code = NOT_CODE.sub("''", file.text)
    if file.kind is Kind.FUNCTION and "security definer" in code and "set search_path" not in code:
        yield f"{file.path}: security definer without a pinned search_path"


def code_of(text: str) -> str:
    """The statements without comments, and without what is said in quotes."""
    plain = NOT_CODE.sub(lambda found: "" if found[0].startswith(("--", "/*")) else "''", text)
    return BODY.sub("''", plain)


def forbidden(file: SqlFile) -> tuple[str, str] | None:
    """What a file of the user's own does that it may not, and what to do instead; None when nothing."""
    code = code_of(file.text)
    if found := ENDS_TRANSACTION.search(code):
        return (
            f"{found[1].lower()} would end the transaction that migrates",
            f"Remove {found[1].lower()}: all files are applied in one transaction",
        )
    for pattern in CHANGES_PENSTOCK:
        if found := pattern.search(code):
            return (
                f"it changes something in {found['schema']}, a schema of Penstock's own",
                "Keep to a schema of your own; refer to Penstock's tables and call its functions instead",
            )
    return None
