"""The references of SQL functions, from the heads of the SQL files and the grants, for tools/reference.py."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import penstock.sql
from penstock.sql import SqlFile, load

SQL = Path(penstock.sql.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "sql-documents.md"
QUEUE_PAGE = PAGE.with_name("sql.md")
WIDTH = 118
SCHEMAS = {
    "accounts": "Tenants, projects, keys, usage and kept replies",
    "ingest": "Documents, ingestions, their timeline, sources and the index",
    "search": "Searching",
    "files": "Blobs",
    "vault": "Sealed secrets",
    "comms": "Messages and the processes that send them",
    "api": "What a client asks for as a whole",
    "internal": "The runner of business functions",
    "all_tenants": "The few functions that see every tenant",
}
ROLES = ("penstock_api", "worker_service_user", "service_role", "penstock_reader")
INTRO = """# SQL reference: documents and processes

Every function that a login may call in the schemas `accounts`, `ingest`, `search`, `files`, `vault`, `comms`,
`api`, `internal` and `all_tenants`; the queue's are in [the other reference](sql.md). Written by
`make generate` from the SQL itself. Supervisors and handlers, which workers call by name through
`internal.run_function`, are explained in [Processes](../guides/processes.md).

All but those in `all_tenants` work for the transaction's tenant. Set it first, for the transaction and never
for the session:

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


def granted(*schemas: str) -> dict[str, set[str]]:
    """Who may call each function, by its name with its schema."""
    callers: dict[str, set[str]] = defaultdict(set)
    for path in sorted(SQL.glob("*/grants/*.sql")):
        text = path.read_text()
        for functions, roles in re.findall(r"grant execute on function\s(.*?)\bto ([^;]+);", text, re.DOTALL):
            for function in re.findall(r"(\w+\.\w+)", functions):
                callers[function] |= {role for role in re.findall(r"\w+", roles) if role in ROLES}
        for functions in re.findall(r"internal\.register_process\((.*?)\);", text, re.DOTALL):
            for function in re.findall(r'": "(\w+\.\w+)"', functions):
                callers[function].add("worker_service_user")
    return {
        function: roles
        for function, roles in callers.items()
        if roles and function.split(".")[0] in (schemas or SCHEMAS)
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


def queue_page() -> str:
    """The page of the queue's functions: prose by hand, signatures and callers from the SQL."""
    files = {file.name: file for file in load().objects if file.schema == "queues"}
    callers = granted("queues")
    parts = re.split(r"^### queues\.(\w+)$", QUEUE_PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    if missing := sorted({name.split(".")[1] for name in callers} ^ set(told)):
        raise SystemExit(f"{QUEUE_PAGE.name}: not the functions that logins may call: {', '.join(missing)}")
    whole = [parts[0]]
    for name, text in told.items():
        before, _, rest = text.partition("```sql\n")
        shown = f"{before}```sql\n{_signature(files[name], name)}\n```{rest.partition('```')[2]}"
        roles = callers[f"queues.{name}"]
        told_roles = ", ".join(f"`{role}`" for role in ROLES if role in roles)
        who = "all roles" if roles == set(ROLES) else told_roles
        shown = re.sub(r"^Callers: [^.]+\.", f"Callers: {who}.", shown, flags=re.MULTILINE)
        whole.append(f"### queues.{name}{shown}")
    return "".join(whole)


def _signature(file: SqlFile, name: str) -> str:
    pattern = rf"^create or replace function (queues\.{name}\b.*?)\nlanguage"
    found = re.search(pattern, file.text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"{file.path}: no signature of {name}")
    return found[1]


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
        if line.startswith("-- Generated by "):
            continue
        if not line.startswith("--"):
            return
        yield line[2:].strip()
