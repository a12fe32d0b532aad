"""Writes the SQL of Penstock's own processes from the templates of `penstock new process`, or checks it."""

from __future__ import annotations

import sys
from pathlib import Path

import penstock.sql
from penstock.processes.generator.built_in import built_in_files

ROOT = Path(penstock.sql.__file__).parent


def main(words: list[str]) -> int:
    files = built_in_files()
    different = [
        file
        for file in files
        if not (ROOT / file.path).is_file() or (ROOT / file.path).read_text(encoding="utf-8") != file.text
    ]
    if "--check" in words:
        for file in different:
            print(f"{file.path} is not what its template says; run: make generate", file=sys.stderr)
        print(f"Generated SQL: {len(files)} files, {len(different)} differ")
        return 1 if different else 0
    for file in different:
        (ROOT / file.path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / file.path).write_text(file.text, encoding="utf-8", newline="\n")
        print(f"wrote {file.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
