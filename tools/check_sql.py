"""Checks the SQL of the package: each file in its place, one object each, and read by a real Postgres."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import penstock.sql
from penstock.db.sql_check import Scratch, check_tree
from penstock.sql import load
from penstock.sql.file_rules import complaints

ROOT = Path(penstock.sql.__file__).parent


def main() -> int:
    tree = load()
    found = list(complaints(tree, ROOT))
    with Scratch() as url:
        found += asyncio.run(check_tree(url, tree))
    for complaint in found:
        print(complaint, file=sys.stderr)
    print(f"SQL: {len(tree.files)} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
