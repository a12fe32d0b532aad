"""The words that fill the templates for one process."""

from __future__ import annotations

from typing import Final

from penstock.scaffold.process import Channel, Process
from penstock.scaffold.template import filled
from penstock.scaffold.things import SUBJECT_MADE, Row

ANSWERS: Final = {
    Channel.DB_FUNCTION: "{}",
    Channel.EMAIL: '{"message_id": "<one@example.org>", "response": "250 OK"}',
    Channel.SMS: '{"sid": "SM1", "status": "queued"}',
    Channel.FILE_DELETE: '{"object_key": "documents/one.txt", "by": "store"}',
}
"""What the worker says of an attempt that succeeded."""

ASKED: Final = {
    Channel.DB_FUNCTION: 'assert answer["payload"] == {}',
    Channel.EMAIL: 'assert answer["payload"]["to_addresses"] == ["miller@example.org"]',
    Channel.SMS: 'assert answer["payload"]["to_number"] == "+4930123456"',
    Channel.FILE_DELETE: 'assert answer["payload"]["tenant_id"] == str(run.tenant.tenant_id)',
}
"""What the test looks for in what an attempt runs first answers."""


def values_of(process: Process, *, new_schema: bool) -> dict[str, str]:
    about = process.about
    row = about.row
    is_sql = process.channel is Channel.DB_FUNCTION
    values = {
        "process": process.qualified,
        "schema": process.schema,
        "name": process.name,
        "channel": process.channel.value,
        "about_name": about.column,
        "about_type": about.type,
        "about_words": about.words,
        "first_function": process.first_function,
        "first_key": "db_function" if is_sql else "before_handler",
        "first_part": "performer" if is_sql else "before_handler",
        "first_pattern": "perform_{NAME}" if is_sql else "get_{NAME}_payload",
        "first_answer": ASKED[process.channel],
        "answer": ANSWERS[process.channel],
    }
    values |= _subject(process.name) if row is None else _row(process.name, about.column, row)
    kind = "subject" if row is None else "row"
    values["about_checks"] = filled(f"parts/{kind}_checks.sql", values)
    values["kickoff_test"] = filled(f"parts/test_{kind}_kickoff.py.txt", values)
    values["new_schema"] = filled("parts/new_schema.sql", values) if new_schema else ""
    return values | _of_channel(process.channel, values)


def _subject(name: str) -> dict[str, str]:
    return {
        "about_column": f"  subject text not null constraint {name}_has_a_subject check (subject <> ''),",
        "about_constraint": f",\n  constraint {name}_is_done_by_one_task unique (tenant_id, subject)",
        "about_unique": "tenant_id, subject",
        "made_type": "str",
        "made": SUBJECT_MADE,
        "unknown": '""',
        "import_uuid": "",
    }


def _row(name: str, column: str, row: Row) -> dict[str, str]:
    is_uuid = row.type == "uuid"
    return {
        "about_column": f"  {column} {row.type} not null references {row.table}\n"
        f"    constraint {name}_is_done_by_one_task unique,",
        "about_constraint": "",
        "about_unique": column,
        "about_table": row.table,
        "about_condition": row.condition,
        "made_type": "UUID" if is_uuid else "int",
        "made": row.made,
        "unknown": "UUID(int=7)" if is_uuid else "10**12",
        "import_uuid": "from uuid import UUID\n" if is_uuid else "",
    }


def _of_channel(channel: Channel, values: dict[str, str]) -> dict[str, str]:
    if channel is not Channel.FILE_DELETE:
        return {"gate": "", "success_variables": "", "success_effects": ""}
    return {
        "about_checks": values["about_checks"] + filled("parts/file_in_use.sql", values),
        "kickoff_test": values["kickoff_test"] + filled("parts/test_file_in_use.py.txt", values),
        "gate": filled("parts/run_is_ending.sql", values),
        "success_variables": "\n  v_file files.file;",
        "success_effects": filled("parts/blob_is_gone.sql", values),
    }
