"""The files of a new process: their paths and contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.processes.channels.names import ChannelName
from penstock.processes.generator.process import Process
from penstock.processes.generator.target import Target
from penstock.processes.generator.template import filled
from penstock.processes.generator.values import values_of

FUNCTIONS: Final = {
    "has_succeeded_attempt": "has_{}_succeeded_attempt",
    "count_attempts": "count_{}_attempts",
    "count_failed_attempts": "count_{}_failed_attempts",
    "backoff": "{}_backoff",
    "is_stuck": "is_{}_stuck",
    "kickoff": "kickoff_{}",
    "supervisor": "{}_supervisor",
    "record_success": "record_{}_success",
    "record_failure": "record_{}_failure",
}
"""The function name for each template."""

FIRST: Final[dict[str, str]] = {
    ChannelName.DB_FUNCTION: "perform",
    ChannelName.EMAIL: "get_email_payload",
    ChannelName.SMS: "get_sms_payload",
    ChannelName.FILE_DELETE: "get_file_delete_payload",
}
OWN_FIRST: Final = "get_own_payload"


@dataclass(frozen=True, slots=True)
class NewFile:
    path: Path
    text: str


def process_files(process: Process, target: Target) -> tuple[NewFile, ...]:
    """All files of the process; raises Conflict if it already exists."""
    target.check_free(process)
    return tuple(_files(process, target))


def _files(process: Process, target: Target) -> Iterator[NewFile]:
    name = process.name
    values = values_of(process, new_schema=not target.has_schema(process.schema))
    migration = target.sql / "migrations" / f"{target.next_migration:04}_{name}.sql"
    yield NewFile(migration, filled("migration.sql", values))
    functions = target.sql / process.schema / "functions"
    for template, pattern in FUNCTIONS.items():
        yield NewFile(functions / f"{pattern.format(name)}.sql", filled(f"functions/{template}.sql", values))
    first = FIRST.get(process.channel, OWN_FIRST)
    path = functions / f"{process.first_function.partition('.')[2]}.sql"
    yield NewFile(path, filled(f"functions/{first}.sql", values))
    yield NewFile(target.grants_file(process), filled("grants.sql", values))
    test = "test_process.py.txt" if target.is_penstock else "test_own_process.py.txt"
    yield NewFile(target.tests / f"test_{name}_process.py", filled(test, values))
