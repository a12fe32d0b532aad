"""Which folders of a user's own SQL are refused before a database is asked, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.db.sql_folders import read_folder
from penstock.errors import SqlFolderInvalid
from penstock.sql import load
from penstock.sql.schema_names import PENSTOCK_SCHEMAS, is_penstock_schema, why_not
from tests.plugins.own_folder import read, write

INVALID = {
    "a gap": ("migrations/0003_x.sql", "select 1;", "0002 is next"),
    "a bad name": ("migrations/0002-x.sql", "select 1;", "NNNN_name.sql"),
    "a schema of Penstock's": (
        "migrations/0002_x.sql",
        "create schema ingest authorization penstock_owner;",
        "the schema ingest is Penstock's own",
    ),
    "a schema nobody creates": ("shop/functions/x.sql", "select 1;", "creates the schema shop"),
    "a function of Penstock's": ("queues/functions/claim.sql", "select 1;", "queues is Penstock's own"),
    "a table of Penstock's": (
        "migrations/0002_x.sql",
        "alter table ingest.document add column colour text;",
        "changes something in ingest",
    ),
    "an index on Penstock's": (
        "migrations/0002_x.sql",
        "create index concurrently x on ingest.document (title);",
        "changes something in ingest",
    ),
    "a grant on Penstock's": (
        "mill/grants/more.sql",
        "grant execute on function queues.pause to penstock_api;",
        "changes something in queues",
    ),
    "a commit": ("migrations/0002_x.sql", "create table mill.x (); commit;", "commit would end"),
}


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_folder_is_refused_by_name_with_the_remedy(own_sql: Path, case: str) -> None:
    path, text, reason = INVALID[case]
    write(own_sql, path, f"-- Cannot be.\n{text}\n")
    with pytest.raises(SqlFolderInvalid, match=reason) as refused:
        read(own_sql)
    assert refused.value.path.startswith(str(own_sql))
    assert refused.value.remedy


def test_a_missing_folder_a_foreign_encoding_and_a_folder_without_a_schema_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(SqlFolderInvalid, match="no such folder"):
        read(tmp_path / "nowhere")
    assert read_folder(tmp_path, "PENSTOCK_SQL_DIR") is None, "an empty one is one to come"
    write(tmp_path, "migrations/0001_x.sql", "-- X.\nselect 1;\n")
    with pytest.raises(SqlFolderInvalid, match="creates a schema"):
        read(tmp_path)
    (tmp_path / "migrations/0001_x.sql").write_bytes("-- Mühle\n".encode("latin-1"))
    with pytest.raises(SqlFolderInvalid, match="UTF-8"):
        read(tmp_path)


def test_what_only_looks_like_a_change_of_penstock_is_allowed(own_sql: Path) -> None:
    write(
        own_sql,
        "migrations/0002_x.sql",
        """-- alter table ingest.document; commit;
create table mill.note (
  tenant_id uuid not null references accounts.tenant,
  document_id uuid not null references ingest.document,
  text text not null default 'drop table ingest.document; commit;'
);
do $$ begin perform 1; end $$;
""",
    )
    assert read(own_sql).tree.version == 2


def test_every_schema_of_penstock_is_reserved() -> None:
    assert load().schemas <= PENSTOCK_SCHEMAS
    assert all(is_penstock_schema(schema) for schema in load().schemas)
    assert why_not("penstock_later") is not None
    assert why_not("mill") is None
