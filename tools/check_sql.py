"""Checks the SQL of the package: each file in its place, one object each, and read by a real Postgres."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import penstock.sql
from penstock.db.connect import connect
from penstock.db.embedded import EmbeddedServer
from penstock.db.migrator import migrate
from penstock.sql import Kind, SqlFile, SqlTree, load

ROOT = Path(penstock.sql.__file__).parent
CREATED = re.compile(r"^create (?:or replace )?(function|procedure|view)\s+([a-z_.0-9]+)", re.MULTILINE)
NOT_CODE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"", re.DOTALL)
SHOUTED = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|CREATE|BEGIN|END|RETURNS?|DECLARE|LANGUAGE)\b"
)
HEAD = re.compile(r"\A--[^\n]*\n")


def complaints(tree: SqlTree) -> Iterator[str]:
    """What a reader of the files would object to."""
    known = {file.path for file in (*tree.migrations, *tree.objects, *tree.security)}
    for path in sorted(ROOT.rglob("*.sql")):
        if str(path.relative_to(ROOT)) not in known:
            yield f"{path.relative_to(ROOT)}: nobody applies a file in this folder"
    for file in (*tree.migrations, *tree.objects, *tree.security):
        code = NOT_CODE.sub("''", file.text)
        if shouted := SHOUTED.search(code):
            yield f"{file.path}: {shouted.group()} is written in lower case here"
        if "\t" in file.text or re.search(r"[ ]+$", file.text, re.MULTILINE):
            yield f"{file.path}: tabs or spaces at the end of a line"
        if not HEAD.match(file.text):
            yield f"{file.path}: begins without saying why it is there"
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


async def read_by_postgres(tree: SqlTree, url: str) -> list[str]:
    """Apply everything, then each object once more with the bodies checked."""
    found: list[str] = []
    connection = await connect(url, timeout=60)
    try:
        await migrate(connection, tree)
        await connection.execute("set check_function_bodies = on")
        for file in tree.objects:
            try:
                async with connection.transaction():
                    await connection.execute(file.text)
            except Exception as error:  # noqa: BLE001  # every way a file can fail is a finding
                found.append(f"{file.path}: {error}")
    finally:
        await connection.close()
    return found


def main() -> int:
    tree = load()
    found = list(complaints(tree))
    folder = Path(tempfile.mkdtemp(prefix="penstock-check-"))
    folder.chmod(0o755)
    server = EmbeddedServer(folder, {"fsync": "off", "shared_buffers": "16MB"})
    try:
        server.start()
        found += asyncio.run(read_by_postgres(tree, server.url()))
    finally:
        server.destroy()
        shutil.rmtree(folder, ignore_errors=True)
    for complaint in found:
        print(complaint, file=sys.stderr)
    count = len(tree.migrations) + len(tree.objects) + len(tree.security)
    print(f"SQL: {count} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
