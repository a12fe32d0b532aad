"""The files of a new process: where each goes and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.scaffold.checkout import SQL, TESTS, Checkout
from penstock.scaffold.process import Channel, Process
from penstock.scaffold.template import filled
from penstock.scaffold.values import values_of

FUNCTIONS: Final = {
    "has_succeeded_attempt": "has_{}_succeeded_attempt",
    "count_attempts": "count_{}_attempts",
    "count_failed_attempts": "count_{}_failed_attempts",
    "is_stuck": "is_{}_stuck",
    "kickoff": "kickoff_{}",
    "supervisor": "{}_supervisor",
    "record_success": "record_{}_success",
    "record_failure": "record_{}_failure",
}
"""By template, the name of the function it becomes."""

FIRST: Final = {
    Channel.DB_FUNCTION: "perform",
    Channel.EMAIL: "get_email_payload",
    Channel.SMS: "get_sms_payload",
    Channel.FILE_DELETE: "get_file_delete_payload",
}


@dataclass(frozen=True, slots=True)
class NewFile:
    path: Path
    text: str


def process_files(process: Process, checkout: Checkout) -> tuple[NewFile, ...]:
    """All files of the process; raises Conflict when it is there already."""
    checkout.check_free(process)
    return tuple(_files(process, checkout))


def _files(process: Process, checkout: Checkout) -> Iterator[NewFile]:
    name = process.name
    values = values_of(process, new_schema=not checkout.has_schema(process.schema))
    migration = SQL / "migrations" / f"{checkout.next_migration:04}_{name}.sql"
    yield NewFile(migration, filled("migration.sql", values))
    functions = SQL / process.schema / "functions"
    for template, pattern in FUNCTIONS.items():
        yield NewFile(functions / f"{pattern.format(name)}.sql", filled(f"functions/{template}.sql", values))
    first = process.first_function.partition(".")[2]
    yield NewFile(functions / f"{first}.sql", filled(f"functions/{FIRST[process.channel]}.sql", values))
    yield NewFile(SQL / "security" / f"process_{name}.sql", filled("security.sql", values))
    yield NewFile(TESTS / f"test_{name}_process.py", filled("test_process.py.txt", values))
