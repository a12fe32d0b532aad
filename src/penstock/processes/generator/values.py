"""The words that fill the templates for one process."""

from __future__ import annotations

from typing import Final

from penstock.processes.channels.names import ChannelName
from penstock.processes.generator.process import Process
from penstock.processes.generator.subjects import SUBJECT_MADE, Row
from penstock.processes.generator.template import filled

ONLY_BUILT_IN: Final = (
    "kickoff_note",
    "after_success",
    "supervisor_variables",
    "more_payload",
    "queue_argument",
    "process_queue",
)
"""Placeholders that stay empty in a new process."""

ANSWERS: Final[dict[str, str]] = {
    ChannelName.DB_FUNCTION: "{}",
    ChannelName.EMAIL: '{"message_id": "<one@example.org>", "response": "250 OK"}',
    ChannelName.SMS: '{"sid": "SM1", "status": "queued"}',
    ChannelName.FILE_DELETE: '{"object_key": "documents/one.txt", "by": "store"}',
}
"""The worker's payload of a successful attempt."""

ASKED: Final[dict[str, str]] = {
    ChannelName.DB_FUNCTION: 'assert answer["payload"] == {}',
    ChannelName.EMAIL: 'assert answer["payload"]["to_addresses"] == ["miller@example.org"]',
    ChannelName.SMS: 'assert answer["payload"]["to_number"] == "+4930123456"',
    ChannelName.FILE_DELETE: 'assert answer["payload"]["tenant_id"] == str(run.tenant.tenant_id)',
}
"""What the test looks for in what an attempt runs first answers."""


def values_of(process: Process, *, new_schema: bool) -> dict[str, str]:
    """The values for a new process; built-in processes override some of them."""
    about = process.about
    row = about.row
    is_sql = process.channel == ChannelName.DB_FUNCTION
    values = {
        "process": process.qualified,
        "schema": process.schema,
        "name": process.name,
        "channel": str(process.channel),
        "about_name": about.column,
        "about_key": about.column,
        "about_insert": f", {about.column}",
        "about_value": f", _{about.column}",
        "about_type": about.type,
        "about_words": about.words,
        "first_function": process.first_function,
        "first_key": "db_function" if is_sql else "before_handler",
        "first_part": "performer" if is_sql else "before_handler",
        "first_pattern": "perform_{NAME}" if is_sql else "get_{NAME}_payload",
        "first_answer": ASKED.get(process.channel, ""),
        "first_result": "what the work wrote"
        if is_sql
        else 'that answer["payload"] is what the channel needs',
        "import_run": ", run_until_empty" if is_sql else "",
        "answer": ANSWERS.get(process.channel, "{}"),
        "success_handler": f"{process.schema}.record_{process.name}_success",
        "error_handler": f"{process.schema}.record_{process.name}_failure",
        "first_wait": "5 seconds",
        "wait_factor": "4",
        "longest_wait": "1 hour",
    }
    values |= dict.fromkeys(ONLY_BUILT_IN, "")
    values["grants"] = filled("parts/start_grant.sql", values)
    values |= _subject(process.name) if row is None else _row(process.name, about.column, row)
    kind = "subject" if row is None else "row"
    values["about_checks"] = filled(f"parts/{kind}_checks.sql", values)
    values["kickoff_test"] = filled(f"parts/test_{kind}_kickoff.py.txt", values)
    values["worker_test"] = filled("parts/test_by_a_worker.py.txt", values) if is_sql else ""
    values["new_channel"] = filled("parts/new_channel.sql", values) if process.has_own_channel else ""
    values["new_schema"] = filled("parts/new_schema.sql", values) if new_schema else ""
    return values | _of_channel(process.channel, values)


def _subject(name: str) -> dict[str, str]:
    return {
        "about_column": f"  subject text not null constraint {name}_has_a_subject check (subject <> ''),",
        "about_constraint": f",\n  constraint {name}_is_done_by_one_task unique (tenant_id, subject)",
        "about_unique": "tenant_id, subject",
        "made_type": "str",
        "made": SUBJECT_MADE,
        "made_in_project": SUBJECT_MADE,
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
        "made_in_project": row.made_in_project,
        "unknown": "UUID(int=7)" if is_uuid else "10**12",
        "import_uuid": "from uuid import UUID\n" if is_uuid else "",
    }


def _of_channel(channel: str, values: dict[str, str]) -> dict[str, str]:
    if channel != ChannelName.FILE_DELETE:
        return {"gate": "", "success_variables": "", "success_effects": ""}
    return {
        "about_checks": values["about_checks"] + filled("parts/file_in_use.sql", values),
        "kickoff_test": values["kickoff_test"] + filled("parts/test_file_in_use.py.txt", values),
        "gate": filled("parts/run_is_ending.sql", values),
        "success_variables": "\n  v_file files.file;",
        "success_effects": filled("parts/blob_is_gone.sql", values),
    }
