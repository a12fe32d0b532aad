"""Writes docs/reference/sql-documents.md from the heads of the SQL files and the grants."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import penstock.sql
from penstock.sql import SqlFile, load

SQL = Path(penstock.sql.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "sql-documents.md"
WIDTH = 118
SCHEMAS = {
    "accounts": "Tenants, projects, keys, usage and kept replies",
    "ingest": "Documents, ingestions, their timeline, sources, the index and search",
    "files": "Blobs",
    "vault": "Sealed secrets",
    "comms": "Messages and the processes that send them",
    "api": "What a client asks for as a whole",
    "internal": "The runner of business functions",
    "keeping": "The few functions that see every tenant",
}
ROLES = ("penstock_api", "worker_service_user", "service_role", "penstock_reader")
INTRO = """# SQL reference: documents and processes

Every function of the schemas `accounts`, `ingest`, `files`, `vault`, `comms`, `api`, `internal` and `keeping`
that a login may call; the queue's are in [the other reference](sql.md). Written by `tools/sql_reference.py`
from the SQL itself. Supervisors and handlers, which workers call by name through `internal.run_function`, are
explained in [Processes](../guides/processes.md).

All but those in `keeping` work for the transaction's tenant. Set it first, for the transaction and never for
the session:

```sql
begin;
select set_config('penstock.tenant_id', '018f0000-0000-7000-8000-000000000001', true);
select ingest.list_documents();
commit;
```

Without it a call raises PS012; with it row security shows no other tenant's rows
([how it holds](../operate/roles-and-grants.md#tenants)). Pass parameters by name. There are no overloads.
[Errors](errors.md) are SQLSTATEs with the field in `detail` and the remedy in `hint`.
"""


def granted() -> dict[str, set[str]]:
    """Who may call each function, by its name with its schema."""
    callers: dict[str, set[str]] = defaultdict(set)
    lists = (SQL / "security" / "grants_documents.sql").read_text()
    named = {
        name: set(re.findall(r"'(\w+\.\w+)'", body))
        for name, body in re.findall(r"(v_\w+) text\[\] := array\[(.*?)\];", lists, re.DOTALL)
    }
    for role, sum_ in re.findall(r"^\s*\('(\w+)', (v_.*)\),?$", lists, re.MULTILINE):
        for part in sum_.split(" || "):
            for function in named.get(part) or re.findall(r"'(\w+\.\w+)'", part):
                callers[function].add(role)
    for path in sorted((SQL / "security").glob("*.sql")):
        text = path.read_text()
        for functions, roles in re.findall(r"grant execute on function\s(.*?)\bto ([^;]+);", text, re.DOTALL):
            for function in re.findall(r"(\w+\.\w+)", functions):
                callers[function] |= {role for role in re.findall(r"\w+", roles) if role in ROLES}
        for functions in re.findall(r"internal\.register_process\((.*?)\);", text, re.DOTALL):
            for function in re.findall(r'": "(\w+\.\w+)"', functions):
                callers[function].add("worker_service_user")
    return {
        function: roles for function, roles in callers.items() if roles and function.split(".")[0] in SCHEMAS
    }


def page() -> str:
    files = {f"{file.schema}.{file.name}": file for file in load().objects}
    callers = granted()
    if missing := sorted(set(callers) - set(files)):
        raise SystemExit(f"granted, but there is no such function: {', '.join(missing)}")
    parts = [INTRO]
    for schema, about in SCHEMAS.items():
        parts.append(f"## {schema}\n\n{about}.\n")
        names = sorted(name for name in callers if name.startswith(f"{schema}."))
        parts += [section(name, files[name], callers[name]) for name in names]
    return "\n".join(parts)


def section(name: str, file: SqlFile, callers: set[str]) -> str:
    prose, errors = head(file.text)
    pattern = rf"^create or replace function ({re.escape(name)}.*?)\nlanguage"
    signature = re.search(pattern, file.text, re.MULTILINE | re.DOTALL)
    if signature is None:
        raise SystemExit(f"{file.path}: no signature of {name}")
    who = ", ".join(f"`{role}`" for role in ROLES if role in callers)
    raised = f" Errors: {', '.join(errors)}." if errors else ""
    told = textwrap.fill(prose, WIDTH, break_on_hyphens=False)
    return f"### {name}\n\n```sql\n{signature[1]}\n```\n\n{told}\n\nCallers: {who}.{raised}\n"


def head(text: str) -> tuple[str, list[str]]:
    """What the head of a file says, and the errors it names."""
    lines = list(_comment(text))
    said = " ".join(lines)
    errors = sorted(set(re.findall(r"PS\d{3}", said)))
    plain = re.sub(r"\s*Raises (?:PS\d{3}(?:, | and )?)+\.", "", said)
    return plain.strip(), errors


def _comment(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith("--"):
            return
        yield line[2:].strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
